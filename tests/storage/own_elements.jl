# Nests of threads one after the other in a block: barriers stand where a thread reads what another one wrote, and nowhere else.
#! target cuda
#! sizes A=16,n B=16,n C=16,n D=16,n E=16,n
using Tessella

@tessella function own_elements!(A::Matrix{Float32}, B::Matrix{Float32}, C::Matrix{Float32}, D::Matrix{Float32}, E::Matrix{Float32})
    m, n = size(A)
    for j in 1:n
        for i in 1:m
            @comp S B[i, j] = 2f0 * A[i, j]
        end
        # Each thread reads what it wrote itself.
        for i in 1:m
            @comp R C[i, j] = B[i, j] + A[i, j]
        end
        # What the next thread wrote.
        for i in 1:m-1
            @comp Q D[i, j] = C[i+1, j]
        end
        # The first thread has the second element, and wrote the first one.
        for i in 2:m
            @comp P E[i, j] = D[i-1, j] + A[i, j]
        end
        # Its element was another thread's.
        for i in 1:m
            @comp O B[i, j] = E[i, j] - B[i, j]
        end
    end
    return nothing
end

@schedule own_elements! begin
    assume(size(A, 1) <= 32)
    @block x for j = j
        @thread x for i = i
            S
        end
        @thread x for i = i
            R
        end
        @thread x for i = i
            Q
        end
        @thread x for i = i
            P
        end
        @thread x for i = i
            O
        end
    end
end

function own_elements_inputs(::Type{T}, n) where {T}
    A = T[mod(3i + 7j, 19) / 19 for i in 1:16, j in 1:n]
    return A, zero(A), zero(A), zero(A), 2 .* A
end
