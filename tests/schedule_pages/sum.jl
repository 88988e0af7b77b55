@tessella function total(x::Vector{Float64})
    s = 0.0
    @fastmath for i in eachindex(x)
        @comp S s += x[i]
    end
    return s
end
