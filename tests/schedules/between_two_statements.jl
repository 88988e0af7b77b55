# Q moves from a loop of its own between S and R.
#! run n=0
#! run n=1
#! run n=7
@tessella function three!(A::Vector{Float64}, B::Vector{Float64}, C::Vector{Float64})
    n = length(A)
    for i in 1:n
        @comp S A[i] = i
        @comp R C[i] = 2A[i]
    end
    for i in 1:n
        @comp Q B[i] = A[i] + 1
    end
end

@schedule three! begin
    between(Q, S, i, R, i)
end
