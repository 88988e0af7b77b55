@tessella function f!(y::Vector{Float64}, x::Vector{Float64})
    for i in 1:1024
        @comp S y[i] = 2 * x[i]
    end
end

@schedule f! begin
    split(S, i, 32)
    cache_shared(x, S, i0; ahead=0)
    cache_shared(x, S, i0; ahead=-1)
end
