const PARTS = (1, 0.5, 2.0f0)

@tessella function parts!(y::Vector{Float64})
    for i in 1:3
        y[i] = PARTS[i]
    end
end
