# Until two pictures hardly differ: the largest difference is one reduction of all threads in each turn.
using Tessella

@tessella function residual!(a::Matrix{Float64}, b::Matrix{Float64}, limit::Float64)
    apart, turns = limit + 1.0, 0
    while apart > limit && turns < 50
        apart = 0.0
        for j in axes(a, 2), i in axes(a, 1)
            if abs(a[i, j] - b[i, j]) > apart
                apart = abs(a[i, j] - b[i, j])
            end
        end
        for j in axes(a, 2), i in axes(a, 1)
            b[i, j] = 0.5 * (a[i, j] + b[i, j])
        end
        turns += 1
    end
    return turns
end
#! sizes a=m,n b=m,n limit=k
#! run m=0 n=3 k=1
#! run m=5 n=7 k=1
#! run m=40 n=33 k=2
