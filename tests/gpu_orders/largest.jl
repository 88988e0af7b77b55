# The largest product of a pair of elements, in any order: each block combines what its threads found, then one block what all found.
#! sizes x=n y=n out=1
#! run n=1
#! run n=63
#! run n=8193
using Tessella

@tessella function largest!(out::Vector{Float32}, x::Vector{Float32}, y::Vector{Float32})
    largest = -Inf32
    @simd for i in 1:length(x)
        largest = max(largest, x[i] * y[i])
    end
    out[1] = largest
    return nothing
end
