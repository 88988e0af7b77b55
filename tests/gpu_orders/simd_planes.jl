# The sum of a tensor, in any order within a plane: a block combines each plane, one thread takes them in order.
#! sizes A=l,m,n out=1
#! run l=1 m=1 n=1
#! run l=300 m=3 n=2
#! run l=7 m=40 n=530
using Tessella

@tessella function simd_planes!(out::Vector{Float64}, A::Array{Float64,3})
    l, m, n = size(A)
    total = 0.0
    for k in 1:n
        @simd for I in CartesianIndices((l, m))
            total += floor(A[I, k])
        end
    end
    out[1] = total
    return nothing
end
