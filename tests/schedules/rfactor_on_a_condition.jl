# Only where the data say so is an element updated; where they never do, for a row or for all of them, it need not even be there.
#! run m=0 n=2
#! run m=3 n=1
#! run m=9 n=5
#! run m=33 n=4
@tessella function positives!(s::Vector{Int64}, p::Vector{Int32}, A::Matrix{Int64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        if A[i, j] > 5
            @comp S s[j] += A[i, j]
        end
    end
    for j in 1:n, i in 1:m
        if A[i, j] % 3 != 0
            @comp R p[j] = max(p[j], A[i, j] % Int32)
        end
    end
end

@schedule positives! begin
    rfactor(S, i, 8)
    vectorize(S, i1, 8)
    reverse(R, i)
    interchange(R, j, i)
end
