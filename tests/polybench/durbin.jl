# The Yule-Walker equations: a symmetric Toeplitz system, by Durbin's recursion
using Tessella

@tessella function kernel_durbin!(y, z, r)
    n = length(r)
    y[1] = -r[1]
    α = -r[1]
    β = one(α)
    for k in 2:n
        β = (1 - α * α) * β
        total = zero(α)
        for i in 1:k-1
            total += r[k-i] * y[i]
        end
        α = -(r[k] + total) / β
        for i in 1:k-1
            z[i] = y[i] + α * y[k-i]
        end
        for i in 1:k-1
            y[i] = z[i]
        end
        y[k] = α
    end
    return y
end

function durbin_inputs(::Type{T}, n) where {T}
    r = T[n + 2 - i for i in 1:n]
    return fill(T(NaN), n), fill(T(NaN), n), r
end
