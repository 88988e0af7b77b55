@tessella function head!(y::Vector{Float64}, x::Vector{Float64}, count::Vector{Int})
    count[1] = min(length(x), length(y))
    k = count[1]
    y[1:k] .= x[2:k]
    return nothing
end
