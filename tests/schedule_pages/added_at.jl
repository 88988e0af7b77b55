@tessella function added!(y::Vector{Float64}, k::Vector{Int64}, x::Vector{Float64})
    for p in eachindex(x)
        @comp S y[k[p]] += x[p]
    end
end
