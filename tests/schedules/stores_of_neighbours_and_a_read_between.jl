#! run m=6
#! run m=13
# Unrolling leaves neighbours that are stored in one iteration, and a read of what the first store may have changed. GCC moved
# the stores past the read where the loop had `omp simd`.
function f!(A::Matrix{Float64}, B::Vector{Float64}, m::Int)
    for j in 3:8
        for i in 1:m
            @comp S1 A[j, i] = muladd(A[3, i], B[i], A[j, i])
        end
    end
    return nothing
end

@schedule f! begin
    unroll_and_jam(S1, j, 2)
    vectorize(S1, i, 4)
end
