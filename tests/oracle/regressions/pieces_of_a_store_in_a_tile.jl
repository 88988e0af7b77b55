#! target c
#! seed 5915203861647866911
#! sizes 11
#! effort 1
#! machine 32 16 524288 32768 32768 2048
# Found: panic. A statement that a command had added was split, and counted as one of the source.
@tessella function f!(A::Array{Float64,2}, B::Array{Float64,2}, n::Int64, m::Int64)
    for j in 1:n
        @comp S2 B[1, j] = A[1, 1]
    end
    return nothing
end

@schedule f! begin
    privatize(B, S2, j)
    pieces(store_B, x1, x2)
    cache_shared(B_own, store_B, x1)
end
