# Two elements that are stored in one iteration lie side by side in memory, since extents are constant, though all their subscripts
# differ; what is read in between may be one of them. GCC moved the stores past the read where the loop had `omp simd`.
#! run n=8 p=2
#! run n=64 p=2
#! run n=33 p=1
function f!(out::Matrix{Float64}, p::Int, n::Int)
    L = zeros(2, 8, n)
    for i in 1:n
        @comp S L[2, 3, i] = L[p, 4, i] + 1.0
        @comp R L[1, 4, i] = L[p, 3, i] * 2.0 + 1.0
    end
    for i in 1:n, k in 1:8
        @comp E out[k, i] = L[1, k, i] + L[2, k, i]
    end
    return nothing
end

@schedule f! begin
    vectorize(S, i, 4)
end
