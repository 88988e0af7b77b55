@tessella function total(C::Vector{ComplexF64})
    s::ComplexF64 = 0
    for i in eachindex(C)
        s += C[i]
    end
    return s
end
