@tessella function apply!(y::Vector{Float64}, A::Matrix{Float64}, x::Vector{Float64})
    y .= A * x
    return nothing
end
