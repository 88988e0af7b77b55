half(x::Float32) = x / 2

@tessella function shrink!(x::Vector{Float64})
    for i in eachindex(x)
        x[i] = half(x[i])
    end
end
