# A box of eight corners in a cell that is periodic along all axes.
#! with space(S, t, (k, j, i), (4, 4, 8))
#! gpu stream(S, t, 2, 2, 5, 4, 4)
#! gpu stream(S, t, 1, 2, 0, 4)
#! run l=4 m=5 n=3 steps=1
#! run l=1 m=1 n=1 steps=2
#! run l=2 m=3 n=2 steps=3
#! run l=9 m=7 n=8 steps=4
#! own l=9 m=33 n=17 steps=7
@tessella function torus_box3d!(A::Array{Float64,3}, B::Array{Float64,3}, steps::Int)
    l, m, n = size(A)
    @assert size(B) == (l, m, n)
    for t in 1:steps
        for k in 1:n, j in 1:m, i in 1:l
            east, north, high = mod1(i + 1, l), mod1(j + 1, m), mod1(k + 1, n)
            west, south, low = mod1(i - 1, l), mod1(j - 1, m), mod1(k - 1, n)
            @comp S B[i, j, k] = 0.25 * A[west, south, low] + 0.125 * A[east, south, low] + 0.25 * A[east, north, high] +
                                 0.125 * A[west, north, high] + 0.25 * A[i, j, k]
        end
        for k in 1:n, j in 1:m, i in 1:l
            @comp R A[i, j, k] = B[i, j, k]
        end
    end
    return nothing
end
