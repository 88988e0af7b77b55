# What is written is never read where k >= n: the source asserts it, so that the loop is parallel.
#! run n=0 k=1
#! run n=1 k=1
#! run n=7 k=9
@tessella function move_apart!(A::Vector{Float64}, n::Int, k::Int)
    @assert n <= k
    for i in 1:n
        @comp S A[i] = A[i+k] + 1
    end
end

@schedule move_apart! begin
    parallel(S, i)
end
