const WEIGHTS = (0.25, 0.5, 0.25)

@tessella function smooth!(y::Vector{Float64}, x::Vector{Float64})
    for i in 2:length(x)-1
        y[i] = WEIGHTS[2] * x[i-1] + WEIGHTS[3] * x[i] + WEIGHTS[4] * x[i+1]
    end
end
