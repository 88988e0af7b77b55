# Sums down columns: tiles of the matrix are copied to shared memory two iterations ahead, those of the vector one.
#! target cuda
#! sizes s=n A=m,n r=m
using Tessella

@tessella function sums_ahead!(s::Vector{Float64}, A::Matrix{Float64}, r::Vector{Float64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S s[j] += r[i] * A[i, j]
    end
    return nothing
end

@schedule sums_ahead! begin
    split(S, i, 4)
    split(S, j, 4)
    interchange(S, j1, i0)
    gpu(S, j0, j1)
    cache_register(s, S, j0)
    cache_shared(A, S, i0; ahead=2)
    cache_shared(r, S, i0; ahead=1)
    pad(A, (1, 0))
end

function sums_ahead_inputs(::Type{T}, n) where {T}
    m = n + 3
    s = T[mod(j, 5) / 5 for j in 1:n]
    A = T[mod(3i + 7j, 11) / 11 - 0.5 for i in 1:m, j in 1:n]
    r = T[mod(5i, 13) / 13 for i in 1:m]
    return s, A, r
end
