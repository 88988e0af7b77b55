@tessella function total(x::Vector{Float64})
    return sum(x; init = 0)
end
