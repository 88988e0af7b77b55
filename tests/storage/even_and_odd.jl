# Even and odd elements lie apart, so that both halves of a red-black sweep run through neighbours in memory.
#! target c
#! sizes A=n steps=s
using Tessella

@tessella function even_and_odd!(A::Vector{Float64}, steps::Int)
    n = length(A)
    W = zeros(n)
    for i in 1:n
        @comp I W[i] = A[i]
    end
    for t in 1:steps
        for i in 1:fld(n - 1, 2)
            @comp E W[2i] = 0.5 * (W[2i-1] + W[2i+1])
        end
        for i in 1:fld(n - 2, 2)
            @comp O W[2i+1] = 0.5 * (W[2i] + W[2i+2])
        end
    end
    for i in 1:n
        @comp F A[i] = W[i]
    end
    return nothing
end

@schedule even_and_odd! begin
    store_in(I, halves, i -> (fld(i, 2), i % 2))
    vectorize(E, i, 4)
    vectorize(O, i, 4)
end

function even_and_odd_inputs(::Type{T}, n) where {T}
    return T[mod(i * i, 7) / 7 for i in 1:n], mod(n, 4)
end
