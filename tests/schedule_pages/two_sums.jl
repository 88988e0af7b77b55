@tessella function totals(x::Vector{Float64})
    @comp S0 s = 0.0
    @comp R0 r = 0.0
    @fastmath for i in eachindex(x)
        @comp S s += x[i]
    end
    @fastmath for i in eachindex(x)
        @comp R r += x[i] * x[i]
    end
    return s, r
end
