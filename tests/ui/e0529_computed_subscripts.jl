#! target cuda
@tessella function f!(y::Vector{Float32}, A::Vector{Float32}, idx::Vector{Int})
    for i in 1:length(y)
        @comp S y[i] = A[idx[i]]
    end
end

@schedule f! begin
    split(S, i, 256)
    gpu(S, i0, i1)
    cache_shared(A, S, i0)
end
