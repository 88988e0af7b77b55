@tessella function rims!(x::Vector{Float64})
    n = length(x)
    r = 1:2
    for i in r
        x[i] = 0
    end
    r = n-1:n
    for i in r
        x[i] = 0
    end
end
