# x1 = x1 + A y1 and x2 = x2 + Aᵀ y2
using Tessella

@tessella function kernel_mvt!(x1, x2, y1, y2, A)
    n = length(x1)
    for j in 1:n, i in 1:n
        x1[i] += A[i, j] * y1[j]
    end
    for i in 1:n, j in 1:n
        x2[i] += A[j, i] * y2[j]
    end
end

function mvt_inputs(::Type{T}, n) where {T}
    vector(shift) = T[mod(i - 1 + shift, n) / n for i in 1:n]
    A = T[mod((i - 1) * (j - 1), n) / n for i in 1:n, j in 1:n]
    return vector(0), vector(1), vector(3), vector(4), A
end
