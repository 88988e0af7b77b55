# Edges that read what lies beside them: `max` and `min` keep rows inside, columns are mirrored.
#! with space(S, t, (j, i), (8, 8))
#! gpu stream(S, t, 2, 2, 16)
#! gpu stream(S, t, 1, 4)
#! run m=4 n=5 steps=1
#! run m=2 n=3 steps=4
#! run m=37 n=23 steps=6
#! own m=9 n=203 steps=13
@tessella function clamped_by_max2d!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    @assert size(B) == (m, n) && n >= 2
    for t in 1:steps
        for j in 1:n, i in 1:m
            @comp S B[i, j] = 0.5f0 * A[i, j] + 0.125f0 * (A[max(i - 1, 1), j] + A[min(i + 1, m), j] + A[i, j == 1 ? 2 : j - 1] +
                                                           A[i, j == n ? n - 1 : j + 1])
        end
        for j in 1:n, i in 1:m
            @comp R A[i, j] = B[i, j]
        end
    end
    return nothing
end
