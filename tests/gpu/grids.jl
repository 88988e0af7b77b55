# Arrays that need more blocks along y or z than a grid may have.
module Grids

using Tessella

@tessella function deep!(A, B)
    m, n, p = size(A)
    for k in 1:p, j in 1:n, i in 1:m
        A[i, j, k] = 2 * B[i, j, k]
    end
    return nothing
end

@tessella function wide!(A, B)
    m, n = size(A)
    for j in 1:n, i in 1:m
        A[i, j] = 2 * B[i, j]
    end
    return nothing
end

deep_inputs(::Type{T}, n) where {T} = (zeros(T, 1, 2, n), T[mod(j + 7k, 101) for i in 1:1, j in 1:2, k in 1:n])
wide_inputs(::Type{T}, n) where {T} = (zeros(T, 1, n), T[mod(7j, 101) for i in 1:1, j in 1:n])

# A block has one plane.
const DEPTHS = [0, 1, 65535, 65536, 65537, 131071]
# A block has 32 columns.
const WIDTHS = [0, 1, 32 * 65535, 32 * 65535 + 1, 32 * 65536 + 1]

end
