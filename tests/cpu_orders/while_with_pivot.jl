# A loop with a counter that a pivot ends early: rows below it run in parallel.
using Tessella

@tessella function gauss!(A::Matrix{Float64}, b::Vector{Float64})
    n = length(b)
    k = 1
    while k < n
        if A[k, k] == 0.0
            break
        end
        i = k + 1
        while i <= n
            f = A[i, k] / A[k, k]
            b[i] -= f * b[k]
            for j in 1:n
                A[i, j] -= f * A[k, j]
            end
            i += 1
        end
        k += 1
    end
    return nothing
end
