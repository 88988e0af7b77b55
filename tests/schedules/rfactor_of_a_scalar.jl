# A variable of the function that is returned, updated under a condition; then partial results of partial
# results, one pair for each thread.
#! run n=0
#! run n=1
#! run n=6
#! run n=37
@tessella function count(A::Vector{Float64})
    n = length(A)
    s = 0
    for i in 1:n
        if A[i] > 0.5
            @comp S s += i
        end
    end
    return s
end

@schedule count begin
    rfactor(S, i, 8)
    interchange(S, i0, i1)
    parallel(S, i1)
    rfactor(S, i0, 2)
end
