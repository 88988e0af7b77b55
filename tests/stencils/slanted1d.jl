# The example of the report on hybrid tiling: slopes of 1 and 2, so that a width of 1 is the least for a height of 2.
#! with hexagonal(S, t, i, 2, 1)
#! with hexagonal(S, t, i, 2, 3)
#! with time_skew(S, t, i, 2, 4)
#! run steps=3 n=5
#! run steps=20 n=31
@tessella function slanted1d!(A::Matrix{Float64})
    steps, n = size(A)
    for t in 3:steps, i in 3:n-2
        @comp S A[t, i] = 0.5 * (A[t-2, i-2] + A[t-1, i+2])
    end
end
