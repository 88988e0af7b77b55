@tessella function ones_like!(x::Vector{Float64})
    T = eltype(x)
    for i in eachindex(x)
        x[i] = 1 + T
    end
end
