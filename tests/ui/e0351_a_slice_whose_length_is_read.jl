@tessella function head!(y::Vector{Float64}, x::Vector{Float64}, count::Vector{Int})
    k = count[1]
    y[1:k] .= x[2:k]
    return nothing
end
