# Neighbours chosen by hand, arrays that change places, coefficients at each point, and a number that depends on the place.
#! with space(S, t, (j, i), (8, 8))
#! gpu stream(S, t, 2, 2, 16)
#! gpu stream(S, t, 1, 4)
#! run m=4 n=5 B_1=6 B_2=7 steps=1
#! run m=1 n=2 B_1=1 B_2=2 steps=4
#! run m=2 n=1 B_1=5 B_2=1 steps=3
#! run m=37 n=23 B_1=48 B_2=23 steps=6
#! run m=64 n=11 B_1=68 B_2=12 steps=7
#! own m=9 n=203 B_1=12 B_2=203 steps=13
@tessella function torus_swapped2d!(A::Matrix{Float64}, B::Matrix{Float64}, c::Matrix{Float64}, steps::Int)
    m, n = size(A)
    @assert size(c) == (m, n)
    for t in 1:steps
        for j in 1:n
            left = j == 1 ? n : j - 1
            right = j == n ? 1 : j + 1
            for i in 1:m
                up = i == 1 ? m : i - 1
                down = i == m ? 1 : i + 1
                @comp S B[i, j] = A[i, j] + c[i, j] * (A[up, left] - A[i, j] + A[down, right] - A[i, j]) + 0.001 * (i - 2 * j)
            end
        end
        A, B = B, A
    end
    return nothing
end
