#! target c
#! seed 8903230524204243123
#! sizes 11
#! effort 16
#! machine 32 16 524288 20 256 16
# Found: panic. A statement that a command had added was split, and counted as one of the source.
@tessella function f!(A::Array{Float32,2}, B::Array{Float32,2}, C::Array{Float32,2}, n::Int64)
    for j in 3:n - 2
        for i in 1:n
            @comp S2 C[i, j] = B[i, j]
        end
    end
    return nothing
end

@schedule f! begin
    pieces(S2, i, j)
    privatize(C, S2_piece2, j)
    pieces(store_C, x1, x2)
    cache_shared(C, store_C_piece2, x1)
end
