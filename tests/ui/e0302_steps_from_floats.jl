function decay!(A::Vector{Float64}, T::Float64, dt::Float64)
    steps = round(Int, T / dt)
    for t in 1:steps, i in 1:length(A)
        A[i] = A[i] - dt * A[i]
    end
end
