# Weights in bins: threads own bins, and add up what is theirs in the source's order.
#! target c
#! sizes h=m bin=n w=n
using Tessella

@tessella function owners_on_threads!(h::Vector{Float64}, bin::Vector{Int}, w::Vector{Float64})
    for p in eachindex(w)
        @comp S h[mod1(bin[p], length(h))] += w[p]
    end
    return nothing
end

@schedule owners_on_threads! begin
    owners(S, 16)
    parallel(S, owner)
end

owners_on_threads_inputs(::Type{T}, n) where {T} =
    zeros(T, n ÷ 3 + 1), [mod(7i, n ÷ 3 + 1) + 1 for i in 1:n], T[sin(3i) for i in 1:n]
