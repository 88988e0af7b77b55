# The operands of a fast product are slices of arrays: columns of tiles run along the terms, and rows are padded apart.
#! sizes C=m,n A=p,m,t B=p,n,t t=t
#! run m=1 n=1 p=1 t=1
#! run m=150 n=131 p=19 t=2
@tessella function fast_slices!(C::Matrix{Float32}, A::Array{Float32,3}, B::Array{Float32,3}, t::Int)
    m, n = size(C)
    @fastmath for j in 1:n, k in axes(A, 1), i in 1:m
        C[i, j] += A[k, i, t] * B[k, j, t]
    end
end
