@tessella function scaled!(C::Vector{ComplexF64}, A::Vector{ComplexF64}, x::Float64)
    C .= x .* A
    return sum(A)
end
