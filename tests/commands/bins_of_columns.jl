# Each column adds up by bins in an array of its own, which it then adds to the result.
#! target c
#! sizes h=5 x=n,5
using Tessella

@tessella function bins_of_columns!(h::Vector{Int64}, x::Matrix{Int64})
    for j in axes(x, 2), i in axes(x, 1)
        @comp S h[mod1(x[i, j], length(h))] += x[i, j]
    end
    return nothing
end

@schedule bins_of_columns! begin
    assume(size(h, 1) <= 64)
    privatize(h, S, j)
end

bins_of_columns_inputs(::Type{T}, n) where {T} = T[3, 1, 4, 1, 5], T[mod(3i + j, 11) for i in 1:n, j in 1:5]
