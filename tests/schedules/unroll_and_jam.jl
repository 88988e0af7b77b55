# Four rows at a time share what they read of B.
#! run m=0 n=3 p=2
#! run m=1 n=1 p=1
#! run m=7 n=5 p=4
#! run m=8 n=9 p=17
@tessella function multiply!(C::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    m, n = size(C)
    p = size(A, 2)
    for j in 1:n, i in 1:m
        @comp Z C[i, j] = 0.0
    end
    for j in 1:n, k in 1:p, i in 1:m
        @comp S C[i, j] += A[i, k] * B[k, j]
    end
end

@schedule multiply! begin
    unroll_and_jam(S, j, 4)
end
