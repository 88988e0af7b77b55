#! model parallelograms of a program q=40
@tessella function wave!(A::Matrix{Float64})
    steps, n = size(A)
    for t in 2:steps, i in 2:n-1
        @comp S A[t, i] = A[t-1, i-1] + A[t-1, i+1]
    end
end
