@tessella function rectify!(y::Vector{Float32}, x::Vector{Float32})
    for i in eachindex(x)
        y[i] = 2 * (x[i] > 0 ? x[i] : 0.0)
    end
end
