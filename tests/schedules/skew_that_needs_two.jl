# Two points to the right: a factor of 2.
#! run n=0 steps=1
#! run n=5 steps=2
#! run n=19 steps=4
@tessella function drift!(A::Vector{Float64}, steps::Int)
    n = length(A)
    for t in 1:steps, i in 1:n-2
        @comp S A[i] = A[i] + A[i+2] / 2
    end
end

@schedule drift! begin
    skew(S, t, i, :auto)
    interchange(S, t, i)
end
