# Slopes of 3/2 and 4/3, which are no whole numbers: the loops over high tiles run through a convex set.
#! with hexagonal(S, t, i, 2, 1)
#! with hexagonal(S, t, i, 11, 8)
#! with hexagonal(S, t, i, 23, 3)
#! with time_skew(S, t, i, 3, 4)
#! run steps=3 n=9
#! run steps=9 n=13
#! run steps=61 n=203
@tessella function fractions1d!(A::Matrix{Float64})
    steps, n = size(A)
    for t in 4:steps, i in 5:n-4
        @comp S A[t, i] = 0.5 * (A[t-2, i-3] + A[t-3, i+4])
    end
end
