# Three elements on one side and one on the other, two arrays that are swapped, and values of the step before the last.
#! run n=0 steps=2
#! run n=5 steps=3
#! run n=31 steps=8
@tessella function one_sided!(A::Vector{Float64}, B::Vector{Float64}, w::Vector{Float64}, steps::Int64)
    n = length(A)
    for t in 1:steps
        for i in 4:n-1
            @comp S B[i] = 0.5 * A[i-3] + w[i] * A[i+1] - 0.25 * B[i]
        end
        for i in 4:n-1
            @comp R A[i] = 0.5 * B[i] + 0.125 * A[i]
        end
    end
end

@schedule one_sided! begin
    overlapped(S, t, i, 4, 7)
end
