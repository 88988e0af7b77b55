# Every column of a field is multiplied by a matrix, in place (multiresolution analysis, MADNESS)
using Tessella

@tessella function doitgen!(A, C, row)
    np, nq, nr = size(A)
    for r in 1:nr, q in 1:nq
        for p in 1:np
            row[p] = 0
            for s in 1:np
                row[p] += A[s, q, r] * C[s, p]
            end
        end
        for p in 1:np
            A[p, q, r] = row[p]
        end
    end
end

function doitgen_inputs(::Type{T}, n) where {T}
    nq, nr = min(n, 12), min(n, 9)
    A = T[mod(p * q + r, 13) / 13 for p in 1:n, q in 1:nq, r in 1:nr]
    C = T[mod(s * p, 7) / 7 - 0.4 for s in 1:n, p in 1:n]
    return A, C, zeros(T, n)
end
