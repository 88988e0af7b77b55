#! target c
#! seed 20261124
# Found: different result
@tessella function f!(A::Array{Int64,1}, B::Array{Float32,1}, n::Int64)
    for i in 1:3
        if i == 3
            for l in 1:n
                for k in 2:n
                    for j in 3:-2:i
                        @comp S1 B[l] = (2.25f0 * (0.5f0 + B[k]))
                    end
                end
            end
        end
    end
    return nothing
end

@schedule f! begin
    assume(n <= 3)
    specialize(mod(n, 2) == 0)
    auto()
    pieces(S1, k, l)
    cache_shared(B, S1_piece1, k)
end
