#! target cuda
@tessella function f!(B::Vector{Float32}, A::Vector{Float32})
    n = length(A)
    T = similar(A)
    for i in 1:n
        @comp R T[i] = 2.0f0 * A[i]
    end
    for i in 2:n-1
        @comp S B[i] = T[i-1] + T[i+1]
    end
end

@schedule f! begin
    split(S, i, 128)
    compute_at(R, S, i0)
end
