# Sums by one thread, whose block brings tiles of the terms to it: several in one kernel, upwards and downwards, of elements of several
# types. A sum of terms that the kernel writes itself is unrolled.
#! sizes s=4 x=n y=n A=m,n w=n
#! run m=1 n=1
#! run m=17 n=65
#! run m=65 n=300
#! run m=2 n=1025
using Tessella

@tessella function long_sums!(s::Vector{Float64}, x::Vector{Float32}, y::Vector{Float64}, A::Matrix{Float64}, w::Vector{Float64})
    m, n = size(A)
    for i in 1:n
        s[1] += x[i] * y[i]
    end
    s[2] = s[1] / 2
    for i in n:-1:1
        s[3] -= y[i]
    end
    for i in 1:m
        row = 0.0
        for j in 1:n
            row += A[i, j]
        end
        s[4] = s[4] / 2 + row * s[2]
    end
    w[1] = s[4]
    for i in 2:n
        w[i] = w[i-1] / 2 + x[i]
    end
    for i in 1:n
        s[2] += w[i]
    end
end
