# Threads that count in steps: a loop over twice an iterator, and one over every second value.
#! target cuda
#! sizes A=16,n B=32,n C=32,n D=32,n
using Tessella

@tessella function strided_threads!(A::Matrix{Float32}, B::Matrix{Float32}, C::Matrix{Float32}, D::Matrix{Float32})
    m, n = size(A)
    for j in 1:n
        for i in 1:m
            @comp S B[2i, j] = 2f0 * A[i, j]
        end
        # Half of the elements are other threads'.
        for k in 1:2m
            @comp R C[k, j] = B[k, j] + 1f0
        end
        for i in 2:2:2m
            @comp Q D[i, j] = C[i, j] + B[i-1, j]
        end
    end
    return nothing
end

@schedule strided_threads! begin
    assume(size(A, 1) <= 32)
    @block x for j = j
        @thread x for x = 2i
            S
        end
        @thread x for k = k
            R
        end
        @thread x for i = i
            Q
        end
    end
end

function strided_threads_inputs(::Type{T}, n) where {T}
    A = T[mod(3i + 7j, 19) / 19 for i in 1:16, j in 1:n]
    B = T[mod(5i + j, 13) / 13 for i in 1:32, j in 1:n]
    return A, B, zero(B), 2 .* B
end
