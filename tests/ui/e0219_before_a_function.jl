@tessella @memoize function doubled!(y::Vector{Float64})
    for i in eachindex(y)
        y[i] = twice(y[i])
    end
end

@pur twice(x) = 2x

@kernel @tessella function scaled!(y::Vector{Float64})
    for i in eachindex(y)
        y[i] = tripled(y[i])
    end
end

@inline @fastmath Base.@propagate_inbounds tripled(x) = 3x
