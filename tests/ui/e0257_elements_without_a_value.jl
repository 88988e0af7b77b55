@tessella function fresh!(y::Vector{Float64}, x::Vector{Float64})
    y .= similar(x)
    return nothing
end
