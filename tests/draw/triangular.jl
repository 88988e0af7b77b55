#! draw
#! size n=7
# Forward substitution: a triangle, and a recurrence along its diagonal.
@tessella function solve!(x, L, b)
    n = length(x)
    for i in 1:n
        @comp init x[i] = b[i]
        for j in 1:i-1
            @comp update x[i] -= L[i, j] * x[j]
        end
        @comp scale x[i] /= L[i, i]
    end
end
