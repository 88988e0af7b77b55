# The tiles of hybrid hexagonal tiling for slopes of 1, a height of 2 and a width of 3.
#! draw
#! size steps=17 n=40
#! dims i,t
@tessella function wave!(A::Matrix{Float64})
    steps, n = size(A)
    for t in 2:steps, i in 2:n-1
        @comp S A[t, i] = A[t-1, i-1] + A[t-1, i+1]
    end
end

@schedule wave! begin
    hexagonal(S, t, i, 2, 3)
end
