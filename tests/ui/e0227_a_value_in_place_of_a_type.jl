@tessella function widen!(y::Vector{Float64}, x::Vector{Float32}, like::Float64)
    for i in eachindex(x)
        y[i] = convert(like, x[i])
    end
end
