@tessella function positive_sum(x::Vector{Float64})
    return sum(x[x .> 0])
end
