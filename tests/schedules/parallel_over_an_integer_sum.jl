# Threads share the updates of one element: each has partial results of its own, of chunks of 1024 iterations.
#! run m=0
#! run m=1
#! run m=13
#! run m=3001
@tessella function total!(s::Vector{Int64}, A::Vector{Int64})
    m = length(A)
    for i in 1:m
        @comp S s[1] += A[i] * i
    end
end

@schedule total! begin
    parallel(S, i)
end
