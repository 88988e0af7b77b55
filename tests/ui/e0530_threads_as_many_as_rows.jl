#! target cuda
@tessella function f!(B::Matrix{Float64}, w::Vector{Float64})
    m, n = size(B)
    for j in 1:n, i in 1:m
        @comp S B[i, j] = w[2]
    end
end

@schedule f! begin
    gpu(S, j, i)
    cache_shared(w, S, j)
end
