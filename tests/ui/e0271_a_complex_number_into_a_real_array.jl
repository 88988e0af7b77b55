@tessella function squares!(R::Vector{Float64}, C::Vector{ComplexF64})
    for i in eachindex(R)
        R[i] = conj(C[i]) * C[i]
    end
end
