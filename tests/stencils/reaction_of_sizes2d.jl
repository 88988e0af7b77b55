# Gray and Scott's reaction by a function that asks each field for its size: the sizes are asserted to be the same.
#! with space((S, R), t, (j, i), (8, 8))
#! gpu space((S, R), t, (j, i), (8, 8))
#! run m=4 n=5 steps=1
#! run m=1 n=1 steps=2
#! run m=21 n=19 steps=4
#! own m=65 n=20 steps=11
function around(A, i, j)
    m, n = size(A)
    return A[mod1(i - 1, m), j] + A[mod1(i + 1, m), j] + A[i, mod1(j - 1, n)] + A[i, mod1(j + 1, n)] - 4 * A[i, j]
end
@tessella function reaction_of_sizes2d!(u::Matrix{Float64}, v::Matrix{Float64}, f::Float64, k::Float64, steps::Int)
    @assert size(v) == size(u)
    next, other = similar(u), similar(v)
    for t in 1:steps
        for j in axes(u, 2), i in axes(u, 1)
            r = u[i, j] * v[i, j]^2
            @comp S next[i, j] = u[i, j] + 0.16 * around(u, i, j) - r + f * (1 - u[i, j])
            @comp R other[i, j] = v[i, j] + 0.08 * around(v, i, j) + r - (f + k) * v[i, j]
        end
        u .= next
        v .= other
    end
    return nothing
end
