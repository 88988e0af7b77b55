# The game of life by its rules, each in a branch of its own.
#! with hexagonal(S0, t, (j, i), 3, (5, 8))
#! with overlapped(S0, t, (j, i), 3, (8, 8))
#! with space(S0, t, (j, i), (8, 8))
#! gpu stream(S0, t, 4, 2)
#! run m=4 n=5 steps=2
#! run m=1 n=1 steps=1
#! run m=3 n=3 steps=3
#! run m=33 n=31 steps=5
#! own m=65 n=20 steps=11
@tessella function life_in_branches!(A::Matrix{Int32}, B::Matrix{Int32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            alive = A[i-1, j-1] + A[i, j-1] + A[i+1, j-1] + A[i-1, j] + A[i+1, j] + A[i-1, j+1] + A[i, j+1] + A[i+1, j+1]
            if A[i, j] == 1 && (alive < 2 || alive > 3)
                B[i, j] = 0
            elseif A[i, j] == 0 && alive == 3
                B[i, j] = 1
            else
                B[i, j] = A[i, j]
            end
        end
        for j in 2:n-1, i in 2:m-1
            A[i, j] = B[i, j]
        end
    end
    return nothing
end
