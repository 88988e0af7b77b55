# Sums in the source's order, which one thread adds up: the other threads of its block bring tiles of the matrix. A sum of what the kernel
# writes is unrolled, and the loop that reads what it writes is left alone.
#! sizes A=m,n s=2 v=n
#! run m=0 n=0
#! run m=3 n=1
#! run m=130 n=3
#! run m=64 n=5
using Tessella

@tessella function one_thread!(s::Vector{Float64}, A::Matrix{Float64}, v::Vector{Float32})
    m, n = size(A)
    total = 0.0
    squares = 0.0
    for j in 1:n, i in 1:m
        total += A[i, j]
        squares += A[i, j] * A[i, j]
    end
    s[1] = total / squares
    for i in 2:n
        v[i] = v[i] + v[i-1] * 0.5f0
    end
    for i in 1:n
        s[2] = s[2] - v[i]
    end
end
