function decay!(A::Vector{Float64}, T::Float64)
    steps = round(Int, T / A[1])
    for t in 1:steps, i in 1:length(A)
        A[i] = A[i] - A[i] / steps
    end
end
