#! target cuda
@tessella function f!(A::Matrix{Float64}, n::Int)
    for j in 1:32, t in 1:n
        @comp S A[j, t+1] = 2 * A[j, t]
    end
end

@schedule f! begin
    split(S, j, 8)
    interchange(S, j1, t)
    gpu(S, j0, j1)
    cache_shared(A, S, t; ahead=1)
end
