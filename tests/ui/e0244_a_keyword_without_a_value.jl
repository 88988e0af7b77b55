relax(a, b; omega) = a + omega * (b - a)

@tessella function step!(x::Vector{Float64}, y::Vector{Float64})
    for i in eachindex(x)
        x[i] = relax(x[i], y[i])
    end
end
