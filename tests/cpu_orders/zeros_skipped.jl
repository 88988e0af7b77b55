# Inner loops that data skip stay inside of the conditions, of an elimination and of a product that is taken only for some rows.
using Tessella

@tessella function eliminate!(A::Matrix{Float64})
    n = size(A, 1)
    for i in 1:n-1, j in i+1:n
        if A[j, i] != 0
            m = A[j, i] / A[i, i]
            for k in i:n
                A[j, k] -= m * A[i, k]
            end
        end
    end
    return nothing
end

# One of the conditions depends on no loop.
@tessella function add_some!(y::Vector{Float64}, W::Matrix{Float64}, active::Vector{Float64}, on::Vector{Int64})
    for i in axes(W, 1)
        if on[1] > 0 && active[i] > 0
            for j in axes(W, 2)
                y[i] += W[i, j]
            end
        end
    end
    return nothing
end
