# Heat in a plane whose steps make what they need anew: a copy of the field, and the sum over it. All steps share one array of each.
#! with space((S, R), t, (j, i), (4, 8))
#! with time_skew((S, R), t, (j, i), 2, (8, 8))
#! with hexagonal((S, R), t, (j, i), 1, (3, 8))
#! with overlapped(S, t, (j, i), 2, (8, 8))
#! gpu stream(S, t, 2, 2, 16)
#! gpu stream(S, t, 3, 4)
#! gpu hexagonal(S, t, 1, 2, 2, 32, 1)
#! gpu overlapped(S, t, (j, i), 2, (8, 8))
#! gpu time_skew((S, R), t, (j, i), 2, (8, 8))
#! gpu grid_sync((S, R), t, (j, i), (4, 8))
#! run m=13 n=17 steps=5
#! run m=6 n=9 steps=1
#! run m=9 n=6 steps=2
#! own m=133 n=217 steps=37
@tessella function made_each_step2d!(A::Matrix{Float32}, c::Float32, steps::Int)
    m, n = size(A)
    for t in 1:steps
        B = zeros(Float32, m, n)
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1]
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] += c * (B[i, j] - 4f0 * A[i, j])
        end
    end
end
