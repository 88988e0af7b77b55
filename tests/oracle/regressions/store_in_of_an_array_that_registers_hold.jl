#! target c
#! seed 1
# Found: a panic. `cache_register` keeps all values of the condition, so that `store_in` has none to place.
@tessella function f!(A::Array{Int64,2}, B::Array{Float32,2}, n::Int64, m::Int64)
    for i in 2:3
        for j in 3:i
            (j < j - 1) && continue
            @comp S1 A[i, j] = Int64(i)
            for k in i:m - 1
                if A[2*i - 2, j] <= 2
                    @comp S2 s1 = 1
                    for l in m - 1:-2:i
                        @comp S3 s1 += ((i > 2) ? s1 : A[m - l + 2, i])
                    end
                    @comp S4 B[k, i] += s1
                    @comp S5 s2 = 1.5f0
                    @comp S6 s2 = ((s2 + Float32(k + 1)) - s2)
                    @comp S7 B[k - 1, i] = (s2 + (s2 + abs(B[k - 1, i])))
                else
                    @comp S8 A[fld(i, 3) + 1, j - 1] += ((A[i, k - 1] * 0) - A[k, i])
                end
            end
        end
    end
    return nothing
end

@schedule f! begin
    reverse(S6, j)
    cache_register(guard, S8, k)
    store_in(S0, box, (x0, x1, x2) -> (0, ((x1) % 3), 0))
end
