# How many elements fall to each place, which threads count together.
#! target cuda
#! sizes h=m x=n
using Tessella

@tessella function counts_in_one_piece!(h::Vector{Int32}, x::Vector{Int32})
    for i in 1:length(x)
        @comp S h[mod1(x[i], length(h))] += Int32(1)
    end
    return nothing
end

@schedule counts_in_one_piece! begin
    atomic(S)
    split(S, i, 32)
    gpu(S, i0, i1)
end

counts_in_one_piece_inputs(::Type{T}, n) where {T} = zeros(T, n ÷ 3 + 1), T[mod(3i, 11) for i in 1:n]
