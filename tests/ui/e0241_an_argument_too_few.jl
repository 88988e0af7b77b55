axpy(a, x, y) = a * x + y

@tessella function combined!(x::Vector{Float64}, y::Vector{Float64})
    for i in eachindex(x)
        x[i] = axpy(x[i], y[i])
    end
end
