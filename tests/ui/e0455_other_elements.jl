@tessella function chained!(y::Vector{Float64}, k::Vector{Int}, x::Vector{Float64})
    for p in 2:length(k)
        @comp S y[k[p]] = y[k[p - 1]] + x[p]
    end
end

@schedule chained! begin
    owners(S, 1024)
end
