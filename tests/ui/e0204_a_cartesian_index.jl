@tessella function components!(y::Matrix{Float64}, u::Matrix{Float64})
    for I in CartesianIndices(y)
        y[I] = u[I, 1]
    end
end
