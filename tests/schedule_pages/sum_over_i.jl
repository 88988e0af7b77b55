@tessella function total!(s::Vector{Int64}, x::Vector{Int64})
    for i in eachindex(x)
        @comp S s[1] += x[i]
    end
end
