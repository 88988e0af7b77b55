#! target c
#! seed 1
# Found: wrong program. Lanes stored into one element of the buffer, which nobody reads.
@tessella function f!(C::Array{Float64,1}, n::Int64)
    x = zeros(Float64, n + 3)
    for i in 1:n
        @comp S1 C[i] = 1.0
    end
    return nothing
end

@schedule f! begin
    vectorize(S0, i, 2)
    store_in(S0, box, x0 -> 0)
end
