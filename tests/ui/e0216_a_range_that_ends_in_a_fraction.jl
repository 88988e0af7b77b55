@tessella function mirror!(x::Vector{Float64})
    n = length(x)
    for i in 1:n/2
        x[n-i+1] = x[i]
    end
end
