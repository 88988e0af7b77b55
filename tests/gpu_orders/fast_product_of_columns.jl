# The columns of both operands run along the sum: both tiles have their rows contiguous.
@tessella function fast_product_of_columns!(C::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    m, n = size(C)
    p = size(A, 1)
    @fastmath for j in 1:n, i in 1:m
        sum = 0.0
        for k in 1:p
            sum += A[k, i] * B[k, j]
        end
        C[i, j] = sum
    end
    return nothing
end
#! sizes C=m,n A=p,m B=p,n
#! multiprocessors 1
#! run m=0 n=3 p=2
#! run m=5 n=3 p=0
#! run m=131 n=67 p=11
#! run m=256 n=64 p=8
