# A loop over the name that a search has moved before, with a counter that begins behind it.
using Tessella

@tessella function after!(x::Vector{Float64}, A::Matrix{Float64})
    n = length(x)
    i = 1
    while i <= n && x[i] > 0.0
        i += 1
    end
    x[1] = i
    for i in 1:n
        j = i + 1
        while j <= n
            A[j, i] = 2.0 * A[j, i]
            j += 1
        end
    end
    return nothing
end
