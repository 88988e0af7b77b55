# A product and a least element of bytes and words: two results whose blocks' parts one launch combines.
#! sizes x=n y=n out=1 least=1
#! run n=1
#! run n=255
#! run n=256
#! run n=257
#! run n=2000
using Tessella

@tessella function results!(out::Vector{UInt32}, least::Vector{Int16}, x::Vector{UInt32}, y::Vector{Int16})
    product = one(UInt32)
    for i in 1:length(x)
        product *= x[i]
    end
    smallest = typemax(Int16)
    for i in 1:length(y)
        smallest = min(smallest, y[i])
    end
    out[1] = product
    least[1] = smallest
    return nothing
end
