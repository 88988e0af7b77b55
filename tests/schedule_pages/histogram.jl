@tessella function counted!(h::Vector{Int64}, x::Vector{Int64})
    for i in eachindex(x)
        @comp S h[x[i]] += 1
    end
end
