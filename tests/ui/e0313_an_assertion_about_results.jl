#! target cuda
@tessella function normalise!(x::Vector{Float64}, w::Vector{Float64})
    for i in eachindex(x)
        x[i] = x[i] * w[i]
        x[i] > 0 || throw(DomainError(x[i], "weights must be positive"))
    end
end
