# A wave in a periodic box; along the second axis it is between walls.
#! with space(S, t, (k, j, i), (4, 4, 8))
#! gpu stream(S, t, 2, 2, 5, 4, 4)
#! gpu stream(S, t, 1, 4, 0, 4)
#! run l=4 m=5 n=3 steps=1
#! run l=1 m=3 n=1 steps=2
#! run l=9 m=7 n=8 steps=4
#! own l=9 m=33 n=17 steps=7
@tessella function torus3d!(A::Array{Float32,3}, B::Array{Float32,3}, steps::Int)
    l, m, n = size(A)
    @assert size(B) == (l, m, n)
    for t in 1:steps
        for k in 1:n, j in 2:m-1, i in 1:l
            @comp S B[i, j, k] = 0.4f0 * A[i, j, k] + 0.1f0 * (A[mod1(i - 1, l), j, k] + A[mod1(i + 1, l), j, k] + A[i, j-1, k] + A[i, j+1, k] +
                                                               A[i, j, mod1(k - 1, n)] + A[i, j, mod1(k + 1, n)])
        end
        A, B = B, A
    end
    return nothing
end
