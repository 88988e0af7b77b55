@tessella function products!(A::Matrix{Float64}, x::Vector{Float64}, y::Vector{Float64})
    A .= x * y'
    y .= A' * x
    A .= A^2
    x .= A \ y
    return x' * y + dot(x, A, y) + x * y
end
