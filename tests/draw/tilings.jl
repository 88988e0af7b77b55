# The tiles of each shape of time tiling, two sweeps in a time step.
#! draw
#! tiling
#! size n=42 steps=8
@tessella function jacobi1d!(A::Vector{Float64}, B::Vector{Float64}, steps::Int)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            @comp S B[i] = (A[i-1] + A[i] + A[i+1]) / 3
        end
        for i in 2:n-1
            @comp R A[i] = (B[i-1] + B[i] + B[i+1]) / 3
        end
    end
end
