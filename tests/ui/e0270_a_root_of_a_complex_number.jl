@tessella function roots!(C::Vector{ComplexF64}, A::Vector{ComplexF64})
    for i in eachindex(A)
        C[i] = sqrt(A[i])
    end
end
