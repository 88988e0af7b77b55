@tessella function total!(s::Vector{Int64}, x::Vector{Int64})
    for k in eachindex(x)
        @comp S s[1] += x[k]
    end
end
