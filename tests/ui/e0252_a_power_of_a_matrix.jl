@tessella function walks!(B::Matrix{Float64}, A::Matrix{Float64}, x::Vector{Float64}, y::Vector{Float64})
    B .= A^2
    x .= A \ y
    y .= inv(A) * x
    return nothing
end
