# Four partial sums for each column; `@simd` says that any order will do. The terms are small integers, so that no sum
# rounds and the source's order gives the same bits.
#! run m=0 n=2
#! run m=1 n=1
#! run m=4 n=3
#! run m=11 n=5
@tessella function sums!(s::Vector{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n
        s[j] = 0.0
        @simd for i in 1:m
            @comp S s[j] += floor(A[i, j] * 1000)
        end
    end
end

@schedule sums! begin
    rfactor(S, i, 4)
    vectorize(S, i1, 4)
end
