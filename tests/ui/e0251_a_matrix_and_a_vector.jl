@tessella function add!(C::Matrix{Float64}, A::Matrix{Float64}, v::Vector{Float64})
    C .= A + v
    return nothing
end
