@tessella function cap!(x::Vector{Float64})
    m = maximum(eltype(x))
    for i in eachindex(x)
        x[i] = min(x[i], m)
    end
end
