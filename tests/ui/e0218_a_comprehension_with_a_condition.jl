function positive_ones(x::Vector{Float64})
    y = [v for v in x if v > 0]
    return length(y)
end
