#! target c
#! seed 14349888478620761592
#! sizes 11
#! effort 1
#! machine 32 16 524288 32768
# Found: refused sizes that fit
@tessella function f!(B::Array{Float64,2}, n::Int64, m::Int64)
    for k in 1:n
        for j in 1:n
            @comp S5 B[j, k] = B[j, k]
        end
    end
    return nothing
end

@schedule f! begin
    pieces(S5, j, k)
    assume(mod(n, 4) == 0)
end
