# Threads share the partial results; an outer loop of the statement carries the updates, and an inner one runs along.
#! run m=0 n=3
#! run m=1 n=1
#! run m=7 n=2
#! run m=13 n=5
@tessella function total!(s::Vector{Int64}, A::Matrix{Int64})
    m, n = size(A)
    for i in 1:m, j in 1:n
        @comp S s[1] += A[i, j] * j
    end
end

@schedule total! begin
    rfactor(S, i, 3)
    interchange(S, i0, i1)
    parallel(S, i1)
end
