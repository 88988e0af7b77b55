@tessella function cells!(cell::Vector{Int}, x::Vector{Float64}, v::Vector{Float64}, dt::Float64, start::Vector{Int}, y::Vector{Float64})
    for p in 1:length(x)
        x[p] += dt * v[p]
        cell[p] = floor(Int, x[p]) + 1
    end
    @inbounds for r in eachindex(y), k in start[r]:start[r+1]-1
        y[r] += k
    end
end
