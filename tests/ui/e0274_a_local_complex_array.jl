@tessella function doubled!(C::Vector{ComplexF64})
    B = zeros(ComplexF64, length(C))
    for i in eachindex(C)
        B[i] = 2C[i]
    end
    for i in eachindex(C)
        C[i] = B[i]
    end
end
