@tessella function largest(x::Vector{Float64})
    return maximum(abs, x; init = 1) + sum(x; init = 0.5f0)
end
