function sum_over_shifts(x::Vector{Float64})
    return sum(x[1] * k for k in () if k > 0)
end
