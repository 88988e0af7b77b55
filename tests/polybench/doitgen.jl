# A[:, q, r] = Cᵀ A[:, q, r] for every q and r (multiresolution analysis, MADNESS)
using Tessella

@tessella function kernel_doitgen!(A, C, row)
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
    return A
end

function doitgen_inputs(::Type{T}, nr, nq, np) where {T}
    A = T[mod((r - 1) * (q - 1) + p - 1, np) / np for p in 1:np, q in 1:nq, r in 1:nr]
    C = T[mod((p - 1) * (s - 1), np) / np for s in 1:np, p in 1:np]
    return A, C, fill(T(NaN), np)
end
