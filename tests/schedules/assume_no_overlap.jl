# What is written is never read where k >= n: an assumption that makes the loop parallel.
#! run n=0 k=1
#! run n=1 k=1
#! run n=7 k=9
@tessella function move!(A::Vector{Float64}, n::Int, k::Int)
    for i in 1:n
        @comp S A[i] = A[i+k] + 1
    end
end

@schedule move! begin
    assume(n <= k)
    parallel(S, i)
end
