@tessella function spread!(y::Vector{Float64}, x::Vector{Float64})
    n = length(x)
    halo = zeros(n + 2)
    for i in 1:n
        halo[i+1] = x[i]
    end
    inner = zeros(n)
    inner .= halo
    for i in 1:n
        y[i] = inner[i]
    end
end
