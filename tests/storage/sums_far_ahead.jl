# Sums down columns: tiles of the matrix are copied three iterations ahead, to four stages of 16 KiB that the launch gives.
#! target cuda
#! sizes s=n A=m,n
using Tessella

@tessella function sums_far_ahead!(s::Vector{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S s[j] += A[i, j]
    end
    return nothing
end

@schedule sums_far_ahead! begin
    split(S, i, 31)
    split(S, j, 64)
    interchange(S, j1, i0)
    gpu(S, j0, j1)
    cache_register(s, S, j0)
    cache_shared(A, S, i0; ahead=3)
end

function sums_far_ahead_inputs(::Type{T}, n) where {T}
    m = 3n + 2
    return T[mod(j, 5) / 5 for j in 1:n], T[mod(3i + 7j, 11) / 11 - 0.5 for i in 1:m, j in 1:n]
end
