# A wave in space, from a source in a point: three time levels that change places after each step.
#! with space(S, t, (k, j, i), (4, 4, 8))
#! with overlapped(S, t, (k, j, i), 1, (4, 4, 8))
#! with overlapped(S, t, (k, j, i), 2, (8, 8, 32))
#! with time_skew(S, t, (k, j, i), 1, (4, 4, 8))
#! with time_skew(S, t, (k, j, i), 2, (4, 8, 8))
#! with hexagonal(S, t, (k, j, i), 3, (3, 4, 8))
#! gpu stream(S, t, 1, 2, 5, 4, 4)
#! gpu stream(S, t, 1, 2, 0, 4)
#! run l=8 m=9 n=10 steps=1
#! run l=9 m=8 n=11 steps=5
#! run l=11 m=9 n=8 steps=6
#! own l=9 m=40 n=19 steps=13
@tessella function waves3d!(u0::Array{Float32,3}, u1::Array{Float32,3}, u2::Array{Float32,3}, src::Vector{Float32}, c::Float32)
    l, m, n = size(u1)
    steps = length(src)
    for t in 1:steps
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp S u2[i, j, k] = 2f0 * u1[i, j, k] - u0[i, j, k] + c * (u1[i-1, j, k] + u1[i+1, j, k] + u1[i, j-1, k] + u1[i, j+1, k] +
                                                                       u1[i, j, k-1] + u1[i, j, k+1] - 6f0 * u1[i, j, k])
        end
        @comp P u2[5, 6, 7] += src[t]
        u0, u1, u2 = u1, u2, u0
    end
end
