# C += A B: a thread's rows are pairs of neighbours, two pairs apart by all threads', in registers without what lies between;
# the rows of B's tile are contiguous, and padded by a pair.
#! target cuda
#! sizes C=m,n A=m,p B=p,n
using Tessella

@tessella function gemm_groups!(C::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    m, p = size(A)
    n = size(B, 2)
    for j in 1:n, i in 1:m, k in 1:p
        @comp S C[i, j] += A[i, k] * B[k, j]
    end
    return nothing
end

@schedule gemm_groups! begin
    @block y for j0 = fld(j - 1, 8)
        @block x for i0 = fld(i - 1, 12)
            for k0 = fld(k - 1, 4)
                @thread y for j10 = fld(mod(j - 1, 8), 4)
                    @thread x for i10 = fld(mod(i - 1, 6), 2)
                        @unroll 4 for k1 = mod(k - 1, 4)
                            @unroll 4 for j11 = mod(j - 1, 4)
                                @unroll 2 for i11 = fld(mod(i - 1, 12), 6)
                                    @unroll 2 for i12 = mod(i - 1, 2)
                                        S
                                    end
                                end
                            end
                        end
                    end
                end
            end
        end
    end
    cache_register(C, S, i0)
    cache_shared(A, S, k0; ahead=1)
    cache_shared(B, S, k0; ahead=1, axes=(2, 1))
    pad(B, (0, 2))
end

function gemm_groups_inputs(::Type{T}, n) where {T}
    m, p = n + 3, n + 1
    return T[mod(i * j, 7) / 7 for i in 1:m, j in 1:n], T[mod(3i + k, 11) / 11 - 0.5 for i in 1:m, k in 1:p],
           T[mod(i + 5j, 13) / 13 - 0.5 for i in 1:p, j in 1:n]
end
