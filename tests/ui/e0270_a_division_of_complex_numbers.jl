@tessella function quotients!(C::Vector{ComplexF64}, A::Vector{ComplexF64}, B::Vector{ComplexF64})
    for i in eachindex(C)
        C[i] = A[i] / B[i]
    end
end
