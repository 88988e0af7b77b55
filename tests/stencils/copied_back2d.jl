# Heat in a plate, and what heats it: the copies back have loops of other names, in the other order, or none that is written.
#! with overlapped(S, t, (j, i), 3, (5, 8))
#! with space((S, R), t, (j, i), (4, 8))
#! gpu overlapped(S, t, (j, i), 3, (8, 8))
#! gpu overlapped(S, t, (j, i), 2, (4, 16))
#! run m=23 n=19 steps=7
#! run m=9 n=30 steps=4
#! own m=41 n=37 steps=11
@tessella function copied_back2d!(A::Matrix{Float64}, B::Matrix{Float64}, Q::Matrix{Float64}, P::Matrix{Float64}, steps::Int)
    m, n = size(A)
    @assert size(B) == (m, n) && size(Q) == (m, n) && size(P) == (m, n)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.25 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1]) + 0.01 * Q[i, j]
        end
        for x in 2:m-1, y in 2:n-1
            @comp R A[x, y] = B[x, y]
        end
        for j in 2:n-1, i in 2:m-1
            P[i, j] = Q[i, j] + 0.125 * (Q[i-1, j] - B[i, j])
        end
        Q .= P
    end
end
