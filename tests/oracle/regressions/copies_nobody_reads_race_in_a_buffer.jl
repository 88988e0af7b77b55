#! target c
#! seed 5663557665557291881
#! sizes 11
#! machine 32 16 524288 32768
# Found: wrong program. Lanes copy back into one element of the buffer.
@tessella function f!(A::Array{Float64,2}, B::Array{Int64,3}, C::Array{Float64,1})
    n = size(C, 1)
    x1 = zeros(Float64, n + 3)
    for i in 2:2:n
        @comp S1 B[i - 1, i, i + 2] += ((B[i, i, i] + 4) % 3)
    end
    return nothing
end

@schedule f! begin
    fuse(S0, S1, i; shift=:auto)
    vectorize(S1, i, 8)
    store_in(S0, box, x0 -> ((x0) % 3))
    cache_register(x1, S0, i)
end
