# Each element that is read is computed again; the rest is not computed at all.
#! run n=0
#! run n=2
#! run n=3
#! run n=12
@tessella function blur!(B::Vector{Float64}, A::Vector{Float64})
    n = length(A)
    T = similar(A)
    for i in 1:n
        @comp S T[i] = A[i] / 3 + i
    end
    for i in 2:n-1
        @comp R B[i] = T[i-1] + T[i] + T[i+1]
    end
end

@schedule blur! begin
    inline(S)
    parallel(R, i)
end
