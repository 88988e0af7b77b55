function far!(x::Vector{Float64}, n::Int)
    y = zeros(max(length(x), 4611686018427387904 * n))
    for i in eachindex(x)
        y[i] = x[i]
        x[i] = 2 * y[i]
    end
end
