@tessella function scaled!(C::Vector{ComplexF64}, A::Vector{ComplexF64})
    C .= A ./ maximum(A)
    return nothing
end
