#! target cuda
# The positive elements, one after the other
@tessella function compact!(y::Vector{Float64}, x::Vector{Float64})
    k = 0
    for i in eachindex(x)
        if x[i] > 0
            k += 1
            y[k] = x[i]
        end
    end
    return k
end
