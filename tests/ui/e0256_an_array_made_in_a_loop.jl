@tessella function first_part(x::Vector{Float64}, t::Float64)
    for i in eachindex(x)
        x[i] > t && return x[1:i]
    end
    return x
end
