# A wave equation: the new level takes the place of the one before the last, three arrays in all.
#! with hexagonal((N, O, C), t, (j, i), 2, (3, 8))
#! with time_skew(N, t, (j, i), 2, (8, 8))
#! gpu overlapped(N, t, (j, i), 1, (8, 16))
#! gpu hexagonal(N, t, 1, 2, 2, 64, 1)
#! run m=4 n=5 steps=2
#! run m=15 n=18 steps=7
#! own m=9 n=203 steps=37
@tessella function wave2d!(before::Matrix{Float64}, now::Matrix{Float64}, next::Matrix{Float64}, steps::Int)
    m, n = size(now)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp N next[i, j] = 2.0 * now[i, j] - before[i, j] +
                                 0.25 * (now[i-1, j] + now[i+1, j] + now[i, j-1] + now[i, j+1] - 4.0 * now[i, j])
        end
        for j in 2:n-1, i in 2:m-1
            @comp O before[i, j] = now[i, j]
        end
        for j in 2:n-1, i in 2:m-1
            @comp C now[i, j] = next[i, j]
        end
    end
end
