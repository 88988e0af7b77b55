mix(a::Real, b::Float64) = a + b
mix(a::Float64, b::Real) = a - b

@tessella function blend!(x::Vector{Float64}, y::Vector{Float64})
    for i in eachindex(x)
        x[i] = mix(x[i], y[i])
    end
end
