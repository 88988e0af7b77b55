function joined(x::Vector{Float64}, y::Vector{Float64})
    z = [x; y]
    s = sum(z) do v
        return v^2
    end
    return s
end
