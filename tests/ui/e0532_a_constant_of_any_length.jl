#! target cuda
@tessella function f!(B::Vector{Float64}, A::Vector{Float64}, w::Vector{Float64}, v::Vector{Float32})
    for i in 2:length(B)-1
        @comp S B[i] = w[i] * A[i-1] + w[2] * A[i+1] + v[1]
    end
end

@schedule f! begin
    split(S, i, 64)
    gpu(S, i0, i1)
    constant(w)
end
