@tessella function product!(y::Vector{Float64}, A::Matrix{Float64}, x::Vector{Float64})
    for i in axes(A, 2)
        for k in axes(A, 1)
            @comp S y[i] += A[k, i] * x[k]
        end
    end
end
