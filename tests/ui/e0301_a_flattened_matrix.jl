# A matrix in one vector, as it came from C
@tessella function matvec!(y::Vector{Float64}, A::Vector{Float64}, x::Vector{Float64}, n::Int)
    for i in 1:n
        y[i] = 0
        for j in 1:n
            y[i] += A[(j-1)*n + i] * x[j]
        end
    end
end
