function decay!(A::Vector{Float64}, T::Float64, rate::Float64)
    steps = round(Int, log(T) / rate)
    for t in 1:steps, i in 1:length(A)
        A[i] = A[i] - rate * A[i]
    end
end
