@tessella function scale_columns!(a::Vector{Float64}, s::Vector{Float64}, m::Int)
    for j in 1:length(s)
        for i in 1:m
            a[(j-1)*m + i] *= s[j]
        end
    end
end

#: title A matrix in a vector
#: why `(j-1)*m + i` multiplies two unknowns, so which iterations touch the same element cannot be decided.
#: fix Take the matrix as a matrix, `A::Matrix{Float64}`; `reshape(a, m, n)` makes one without a copy.
