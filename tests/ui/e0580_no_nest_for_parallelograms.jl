#! model parallelograms of a program
@tessella function product!(C::Matrix{Float64}, A::Matrix{Float64}, x::Vector{Float64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S C[i, j] = A[i, j] * x[j]
    end
    for i in 1:m
        @comp R A[i, 1] = 0.0
    end
end
