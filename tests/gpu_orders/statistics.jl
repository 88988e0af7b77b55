# Two sums over a field, which other threads use: one block adds them up, the blocks of the next kernel read what it found.
#! sizes A=m,n B=m,n steps=2
#! run m=1 n=1
#! run m=17 n=3
#! run m=1300 n=2
using Tessella

@tessella function statistics!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int64)
    m, n = size(A)
    for t in 1:steps
        total = 0f0
        squares = 0f0
        for j in 1:n, i in 1:m
            total += A[i, j]
            squares += A[i, j] * A[i, j]
        end
        mean = total / (m * n)
        spread = squares / (m * n) - mean * mean
        for j in 1:n, i in 1:m
            A[i, j] = (A[i, j] - mean) / spread + B[i, j]
        end
    end
end
