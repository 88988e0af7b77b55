# A wave in a plane as functions of the fields: each step gives two names new arrays, which need each other's old ones.
#! with space((Z, L, S2, S3, S4, S5), t, (j, i), (4, 8))
#! with time_skew((Z, L, S2, S3, S4, S5), t, (j, i), 2, (8, 8))
#! with hexagonal((Z, L, S2, S3, S4, S5), t, (j, i), 1, (3, 8))
#! with overlapped(Z, t, (j, i), 2, (8, 8))
#! gpu stream(Z, t, 2, 2, 16)
#! gpu stream(Z, t, 3, 4)
#! gpu overlapped(Z, t, (j, i), 2, (8, 8))
#! gpu grid_sync((Z, L, S2, S3, S4, S5), t, (j, i), (4, 8))
#! run m=13 n=17 steps=5
#! run m=6 n=9 steps=1
#! run m=9 n=6 steps=2
#! own m=133 n=217 steps=37
function bent(u)
    m, n = size(u)
    @comp Z b = zero(u)
    for j in 2:n-1, i in 2:m-1
        @comp L b[i, j] = u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] - 4f0 * u[i, j]
    end
    return b
end

@tessella function anew2d!(A::Matrix{Float32}, B::Matrix{Float32}, c::Float32, steps::Int)
    u, v = copy(A), copy(A)
    for t in 1:steps
        u, v = u .+ c .* v, v .+ c .* bent(u)
    end
    A .= u
    B .= v
    return nothing
end
