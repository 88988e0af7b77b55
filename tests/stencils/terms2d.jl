# A filter of 5 x 5 weights and stars of radius 3 in time, with loops over their terms: each point is one statement.
#! with space(S, t, (j, i), (8, 8))
#! with hexagonal(S, t, (j, i), 1, (4, 8))
#! with time_skew(S, t, (j, i), 2, (8, 8))
#! gpu overlapped(S, t, (j, i), 2, (8, 8))
#! gpu stream(S, t, 1, 4, 16)
#! run m=9 n=8 steps=1
#! run m=17 n=23 steps=5
#! own m=21 n=40 steps=8
@tessella function terms2d!(A::Matrix{Float32}, B::Matrix{Float32}, w::Matrix{Float32}, c::Vector{Float32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 4:n-3, i in 4:m-3
            sum = 0f0
            for b in -2:2, a in -2:2
                sum += w[a+3, b+3] * A[i+a, j+b]
            end
            for r in 3:-1:1
                pair = A[i-r, j] + A[i+r, j]
                sum += c[r] * pair
            end
            @comp S B[i, j] = sum
        end
        for j in 4:n-3, i in 4:m-3
            @comp R A[i, j] = B[i, j]
        end
    end
end
