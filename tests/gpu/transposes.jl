# Arrays with three axes that change places, and complex matrices: through padded tiles in shared memory.
module Transposes

using Tessella

# Around a tile of 32 elements, and of 64.
const EXTENTS = [0, 1, 2, 17, 31, 32, 33, 63, 64, 65, 127]

@tessella function rolled!(B, A)
    m, n, p = size(A)
    for k in 1:p, j in 1:n, i in 1:m
        B[j, k, i] = A[i, j, k]
    end
    return nothing
end

@tessella function rolled_back!(B, A)
    m, n, p = size(A)
    for k in 1:p, j in 1:n, i in 1:m
        B[k, i, j] = A[i, j, k]
    end
    return nothing
end

@tessella function turned!(B, A)
    m, n, p = size(A)
    for k in 1:p, j in 1:n, i in 1:m
        B[k, j, i] = A[i, j, k]
    end
    return nothing
end

@tessella function pages_turned!(B, A)
    m, n, p = size(A)
    for k in 1:p, j in 1:n, i in 1:m
        B[j, i, k] = A[i, j, k]
    end
    return nothing
end

@tessella function complex_transpose!(B, A)
    m, n = size(A)
    for j in 1:n, i in 1:m
        B[j, i] = A[i, j]
    end
    return nothing
end

@tessella function complex_adjoint!(B, A)
    m, n = size(A)
    for j in 1:n, i in 1:m
        B[j, i] = conj(A[i, j])
    end
    return nothing
end

space(::Type{T}, l, m, n) where {T} = T[i + 100j + 10000k for i in 1:l, j in 1:m, k in 1:n]

# The axis that is neither the first one of A nor of B is short.
rolled_inputs(::Type{T}, n) where {T} = (fill(T(-1), n + 1, cld(n, 4), n), space(T, n, n + 1, cld(n, 4)))
rolled_back_inputs(::Type{T}, n) where {T} = (fill(T(-1), n + 1, n, cld(n, 4)), space(T, n, cld(n, 4), n + 1))
turned_inputs(::Type{T}, n) where {T} = (fill(T(-1), n + 1, cld(n, 4), n), space(T, n, cld(n, 4), n + 1))
pages_turned_inputs(::Type{T}, n) where {T} = (fill(T(-1), n + 1, n, cld(n, 4)), space(T, n, n + 1, cld(n, 4)))
complex_inputs(::Type{T}, n) where {T} = (fill(T(-1), n + 1, n), T[T(i, -j) for i in 1:n, j in 1:n+1])

const ALL = [("rolled", rolled!, rolled_inputs), ("rolled_back", rolled_back!, rolled_back_inputs), ("turned", turned!, turned_inputs),
             ("pages_turned", pages_turned!, pages_turned_inputs)]
const COMPLEX = [("complex_transpose", complex_transpose!), ("complex_adjoint", complex_adjoint!)]

end
