# The adjoint of a complex matrix: tiles of both halves pass through shared memory, padded along both axes.
#! sizes A=2,m,n B=2,n,m
#! run m=1 n=1
#! run m=0 n=2
#! run m=33 n=35
#! run m=32 n=64
#! run m=3 n=70
using Tessella

@tessella function adjoint!(B::Matrix{ComplexF64}, A::Matrix{ComplexF64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        B[j, i] = conj(A[i, j])
    end
    return nothing
end
