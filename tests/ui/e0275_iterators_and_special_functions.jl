function smoothed!(x::Vector{Float64}, A::Matrix{Float64}, n)
    for i in Iterators.reverse(1:n)
        x[i] += erf(x[i])
    end
    clamp!(x, 0.0, 1.0)
    A .= triu(A)
    return nextpow(2, n)
end
