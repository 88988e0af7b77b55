@tessella function phase!(p::Vector{Int})
    for i in eachindex(p)
        p[i] = p[i] % 0x0c
    end
end
