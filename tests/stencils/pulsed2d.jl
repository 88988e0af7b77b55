# Heat in a plate that is heated along a line, each step by what its number says: `P` stands nowhere in space until it is computed where it is read.
#! with inline(P); hexagonal((S, R), t, (j, i), 2, (8, 8))
#! with inline(P); time_skew(S, t, (j, i), 2, (8, 8))
#! with inline(P); space(S, t, (j, i), (4, 8))
#! with inline(P); overlapped(S, t, (j, i), 2, (8, 8))
#! gpu inline(P); hexagonal((S, R), t, (j, i), 2, (8, 8))
#! gpu inline(P); time_skew(S, t, (j, i), 2, (8, 8))
#! gpu inline(P); space(S, t, (j, i), (4, 8))
#! gpu inline(P); overlapped(S, t, (j, i), 2, (8, 8))
#! gpu inline(P); grid_sync(S, t, (j, i), (4, 8))
#! gpu inline(P); grid_sync(S, t, 2)
#! gpu inline(P); stream(S, t, 2, 2, 16)
#! run m=4 n=5 steps=1
#! run m=2 n=3 steps=3
#! run m=19 n=23 steps=8
#! own m=9 n=203 steps=37
@tessella function pulsed2d!(T::Matrix{Float64}, N::Matrix{Float64}, a::Float64, steps::Int)
    m, n = size(T)
    for t in 1:steps
        @comp P amp = 0.1 * t * a
        for j in 2:n-1, i in 2:m-1
            @comp S N[i, j] = T[i, j] + a * (T[i-1, j] + T[i+1, j] + T[i, j-1] + T[i, j+1] - 4 * T[i, j])
        end
        for j in 2:n-1, i in 2:m-1
            @comp R T[i, j] = N[i, j]
        end
        for j in 2:n-1
            @comp L T[2, j] += amp
        end
    end
end
