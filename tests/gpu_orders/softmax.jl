# A maximum, a sum and elements of each column: kernels of their own, with the sums of 32 columns a block.
#! sizes A=m,n
#! run m=1 n=1
#! run m=0 n=3
#! run m=33 n=9
#! run m=70 n=40
using Tessella

@tessella function softmax!(A::Matrix{Float32})
    m, n = size(A)
    for j in 1:n
        largest = -Inf32
        for i in 1:m
            largest = max(largest, A[i, j])
        end
        s = 0.0f0
        for i in 1:m
            A[i, j] = exp(A[i, j] - largest)
            s += A[i, j]
        end
        for i in 1:m
            A[i, j] /= s
        end
    end
    return nothing
end
