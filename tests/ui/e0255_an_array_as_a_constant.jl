const WEIGHTS = [0.25, 0.5, 0.25]
const TOTAL = sum(WEIGHTS)

@tessella function weigh!(x::Vector{Float64})
    for i in eachindex(x)
        x[i] /= TOTAL
    end
end
