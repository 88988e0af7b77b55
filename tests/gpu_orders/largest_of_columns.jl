# The largest element of a matrix, in any order within a column only: a block combines each column, one thread takes them in order.
#! sizes A=m,n out=1
#! run m=0 n=3
#! run m=1 n=1
#! run m=300 n=5
#! run m=1025 n=2
using Tessella

@tessella function largest!(out::Vector{Float32}, A::Matrix{Float32})
    largest = -Inf32
    for j in 1:size(A, 2)
        @simd for i in 1:size(A, 1)
            largest = max(largest, A[i, j])
        end
    end
    out[1] = largest
    return nothing
end
