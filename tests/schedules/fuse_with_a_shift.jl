# The reader runs two iterations behind what it reads.
#! run n=0
#! run n=3
#! run n=4
#! run n=17
@tessella function blur!(B::Vector{Float64}, T::Vector{Float64}, A::Vector{Float64})
    n = length(A)
    for i in 1:n
        @comp S T[i] = 2A[i]
    end
    for i in 1:n-2
        @comp R B[i] = T[i] + T[i+1] + T[i+2]
    end
end

@schedule blur! begin
    fuse(S, R, i; shift=:auto)
end
