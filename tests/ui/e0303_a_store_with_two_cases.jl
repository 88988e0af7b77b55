@tessella function clip!(x::Vector{Float64}, y::Vector{Float64})
    n = length(x)
    for i in 1:length(y)
        @comp S x[min(i, n)] = y[i]
    end
end
