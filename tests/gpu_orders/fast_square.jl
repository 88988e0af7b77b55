# A matrix by itself: two tiles of it, one of them with its rows contiguous.
@tessella function fast_square!(C::Matrix{Float32}, A::Matrix{Float32})
    n = size(C, 1)
    @fastmath for j in 1:n, k in 1:n, i in 1:n
        C[i, j] += A[i, k] * A[k, j]
    end
    return nothing
end
#! sizes C=n,n A=n,n
#! multiprocessors 1
#! run n=0
#! run n=5
#! run n=133
