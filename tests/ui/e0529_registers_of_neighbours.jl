#! target cuda
@tessella function f!(W::Array{Float64,3}, steps::Int)
    for b in 1:4, t in 1:steps, i in 2:32
        @comp S W[t+1, i, b] = W[t, i-1, b] + W[t, i, b]
    end
end

@schedule f! begin
    gpu(S, b, i)
    cache_register(W, S, b)
end
