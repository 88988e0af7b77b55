@tessella function columns(z::Matrix{ComplexF64})
    s = sum(z; dims = 1)
    return s
end
