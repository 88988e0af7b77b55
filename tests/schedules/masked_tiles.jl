# Tiles that overlap, under a condition on data.
#! run n=0 steps=3
#! run n=50 steps=9
@tessella function masked_tiles!(A::Vector{Float64}, B::Vector{Float64}, w::Vector{Bool}, steps::Int)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            if w[i]
                @comp S B[i] = 0.5 * (A[i-1] + A[i+1])
            end
        end
        for i in 2:n-1
            @comp R A[i] = B[i]
        end
    end
end

@schedule masked_tiles! begin
    overlapped(S, t, i, 4, 16)
end

