function coarse(x::Vector{Float64})
    y = round.(x; base = 2, digits = 3)
    y .+= floor(x[1]; digits = 3, base = 2)
    return y
end
