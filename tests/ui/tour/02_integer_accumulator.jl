@tessella function mean(x::Vector{Float64})
    total = 0
    for i in eachindex(x)
        total += x[i]
    end
    return total / length(x)
end

#: title A sum that starts as an integer
#: why `total` is an `Int64` before the loop and a `Float64` in it, so it has no one type.
#: fix Start with `total = zero(eltype(x))`; plain Julia becomes faster too.
