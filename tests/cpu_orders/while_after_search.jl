# Counters with names that a search has moved before, in scopes of their own: loops over ranges.
using Tessella

@tessella function reuse!(x::Vector{Float64}, y::Vector{Float64}, flag::Bool)
    n = length(x)
    k = 1
    while k <= n && x[k] > 0.0
        k += 1
    end
    y[1] = k
    let k = 1
        while k <= n
            y[k] = 2.0 * x[k]
            k += 1
        end
    end
    for it in 1:3
        local k = 2
        while k <= n
            y[k] += x[k]
            k += 1
        end
    end
    return nothing
end
