# Two rows of a history instead of all.
#! target c
#! sizes A=n steps=s
using Tessella

@tessella function ring!(A::Vector{Float64}, steps::Int)
    n = length(A)
    W = zeros(steps + 1, n)
    for i in 1:n
        @comp I W[1, i] = A[i]
    end
    for t in 1:steps
        for i in 1:n
            @comp S W[t+1, i] = i > 1 ? 0.5 * (W[t, i] + W[t, i-1]) : W[t, i]
        end
    end
    for i in 1:n
        @comp O A[i] = W[steps+1, i]
    end
    return nothing
end

@schedule ring! begin
    store_in(S, rows, (t, i) -> (t % 2, i))
end

function ring_inputs(::Type{T}, n) where {T}
    return T[mod(i * i, 7) / 7 for i in 1:n], mod(n, 5)
end
