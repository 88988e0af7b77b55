# Figure 5 of the report on hybrid tiling among the other shapes: slopes of 1 and 2, hexagons with h = 2 and w0 = 3.
#! draw
#! tiling
#! size steps=20 n=44
@tessella function slanted1d!(A::Matrix{Float64})
    steps, n = size(A)
    for t in 3:steps, i in 3:n-2
        @comp S A[t, i] = 0.5 * (A[t-2, i-2] + A[t-1, i+2])
    end
end
