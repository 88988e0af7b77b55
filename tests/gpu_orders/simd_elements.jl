# All elements of matrices in any order: `@simd` stands before loops that become two. The terms are small integers, so that the source's
# order gives the same bits.
#! sizes A=m,n B=m,n out=2
#! run m=0 n=3
#! run m=1 n=1
#! run m=300 n=5
#! run m=3 n=700
using Tessella

@tessella function simd_elements!(out::Vector{Float32}, A::Matrix{Float32}, B::Matrix{Float32})
    total = 0f0
    @simd for a in A
        total += floor(a)
    end
    dot = 0f0
    @simd for i in eachindex(A, B)
        dot += floor(A[i]) * floor(B[i])
    end
    out[1] = total
    out[2] = dot
    return nothing
end
