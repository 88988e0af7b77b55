@tessella function products(A::Matrix{Float64}, x::Vector{Float64}, y::Vector{Float64}, V::Array{Float64,3})
    rows = x' * y'
    planes = V * A
    return x * y
end
