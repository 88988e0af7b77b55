# Heat that spreads, and what instruments record of it: traces of each step at a row of receivers, sums for one frequency over all points,
# and a picture of every step.
#! with overlapped(S, t, (j, i), 2, (8, 8))
#! with overlapped(S, t, (j, i), 3, (6, 16))
#! with space((S, Q), t, (j, i), (8, 8))
#! gpu stream(S, t, 3, 2, 16)
#! gpu grid_sync(S, t, 2, 2, 12)
#! run m=17 n=23 steps=5 rj=9
#! run m=12 n=31 steps=6 rj=2
#! own m=37 n=41 steps=13 rj=41
@tessella function receivers2d!(A::Matrix{Float32}, B::Matrix{Float32}, traces::Matrix{Float32}, spectrum::Matrix{Float32},
                                movie::Array{Float32,3}, tone::Vector{Float32}, rj::Int)
    m, n = size(A)
    steps = length(tone)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = A[i, j] + 0.2f0 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1] - 4f0 * A[i, j])
        end
        for j in 2:n-1, i in 2:m-1
            @comp Q A[i, j] = B[i, j]
        end
        for i in 1:m
            @comp R traces[i, t] = A[i, rj]
        end
        for j in 1:n, i in 1:m
            @comp F spectrum[i, j] += tone[t] * A[i, j]
        end
        for j in 1:n, i in 1:m
            @comp M movie[i, j, t] = A[i, j]
        end
    end
end
