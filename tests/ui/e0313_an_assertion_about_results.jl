@tessella function normalise!(x::Vector{Float64}, w::Vector{Float64}, start::Vector{Int}, y::Vector{Float64})
    for i in eachindex(x)
        x[i] = x[i] * w[i]
        x[i] > 0 || throw(DomainError(x[i], "weights must be positive"))
    end
    @inbounds for r in eachindex(y), k in start[r]:start[r+1]-1
        y[r] += k
    end
end
