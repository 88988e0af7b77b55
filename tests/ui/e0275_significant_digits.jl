function coarse(x::Vector{Float64}, n)
    y = round.(x; sigdigits = 3)
    y .+= round.(x; digits = n)
    for i in eachindex(x)
        y[i] += rem(x[i], 2.0, RoundNearest)
    end
    return y
end
