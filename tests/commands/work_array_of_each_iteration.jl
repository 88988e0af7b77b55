# A work array that every column overwrites: each gets its own, and the last one's values are stored.
#! target c
#! sizes A=m,n w=m
using Tessella

@tessella function work_array_of_each_iteration!(A::Matrix{Float64}, w::Vector{Float64})
    m, n = size(A)
    for j in 1:n
        for i in 1:m
            @comp R w[i] = A[i, j] * A[i, j]
        end
        for i in 1:m
            @comp S A[i, j] = w[m+1-i] - w[i]
        end
    end
    return nothing
end

@schedule work_array_of_each_iteration! begin
    privatize(w, R, j)
    parallel(R, j)
end

work_array_of_each_iteration_inputs(T, n) = T[mod(i * j, 7) / 7 for i in 1:n, j in 1:n+1], fill(T(-1), n)
