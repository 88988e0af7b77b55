# Programs under `@fastmath`, on small integers: every order of their sums, and every contraction, gives the same numbers.
module Fast

using Tessella

@tessella function gemm_fast!(C, A, B)
    m, n = size(C)
    p = size(A, 2)
    @fastmath for j in 1:n, k in 1:p, i in 1:m
        C[i, j] += A[i, k] * B[k, j]
    end
    return C
end

gemm_inputs(::Type{T}, n) where {T} =
    (T[mod(i * j, 5) for i in 1:n, j in 1:n], T[mod(3i + k, 7) - 3 for i in 1:n, k in 1:n], T[mod(i + 5j, 7) - 3 for i in 1:n, j in 1:n])

# Around tiles of 64 and 128.
const EXTENTS = [0, 1, 2, 17, 63, 64, 65, 127, 128, 129, 257]

end
