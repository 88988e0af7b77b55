function doubled_positive(x::Vector{Float64})
    return sum(2v for v in x if v > 0)
end
