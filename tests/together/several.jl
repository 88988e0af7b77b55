# Functions that share helpers, names of arrays and constants, and macros.
using Tessella

@tessella function smoothed!(B::Matrix{Float32}, A::Matrix{Float32}, weights::Vector{Float32})
    @assert size(weights) == (3,)
    for j in axes(A, 2), i in 2:size(A, 1)-1
        B[i, j] = weights[1] * A[i-1, j] + weights[2] * A[i, j] + weights[3] * A[i+1, j]
    end
end

@tessella function smoothed_across!(B::Matrix{Float32}, A::Matrix{Float32}, weights::Vector{Float32})
    @assert size(weights) == (3,)
    for j in 2:size(A, 2)-1, i in axes(A, 1)
        B[i, j] = weights[1] * A[i, j-1] + weights[2] * A[i, j] + weights[3] * A[i, j+1]
    end
end

@tessella function counted!(A::Vector{Int64}, B::Vector{Int32})
    for i in eachindex(B)
        A[mod1(B[i], 64)] += 1
    end
    return nothing
end

@tessella function sums!(B::Vector{Float64}, A::Matrix{Float64})
    for j in axes(A, 2), i in axes(A, 1)
        B[j] += A[i, j]
    end
end

@tessella function product!(C::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    for j in axes(C, 2), i in axes(C, 1), k in axes(A, 2)
        C[i, j] += A[i, k] * B[k, j]
    end
end

@tessella function total(A::Vector{Float32})
    sum = 0f0
    @fastmath for i in eachindex(A)
        sum += A[i]
    end
    return sum
end

@tessella function largest(A::Vector{Float64})
    most = -Inf
    for i in eachindex(A)
        most = max(most, A[i])
    end
    return most
end
