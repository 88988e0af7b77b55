#! target cuda
#! seed 8834658897426699015
#! sizes 11
#! effort 1
#! machine 32 16 524288 32768
# Found: refused sizes that fit
@tessella function f!(B::Array{Float64,1}, C::Array{Float64,1}, n::Int64)
    for i in 1:n
        @comp S2 B[i] = C[i]
    end
    return nothing
end

@schedule f! begin
    tile(S2, i, 4)
    pieces(S2, i1, i0)
    assume(mod(n, 2) == 0)
end
