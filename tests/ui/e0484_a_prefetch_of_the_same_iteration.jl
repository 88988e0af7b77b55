@tessella function f!(y::Vector{Float64}, A::Matrix{Float64}, x::Vector{Float64})
    m, n = size(A)
    for i in 1:m, j in 1:n
        @comp S y[i] += A[i, j] * x[j]
    end
end

@schedule f! begin
    prefetch(y, S, j, 0)
end
