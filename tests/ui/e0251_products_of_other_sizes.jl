@tessella function products!(C::Matrix{Float64}, A::Matrix{Float64}, x::Vector{Float64})
    y = A[:, 1:2] * [1.0, 2.0, 3.0]
    mul!(C, A, x)
    return y
end
