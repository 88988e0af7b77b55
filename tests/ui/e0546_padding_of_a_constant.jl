#! target cuda
@tessella function f!(B::Vector{Float64}, A::Vector{Float64}, w::Vector{Float64})
    for i in 2:length(B)-1
        @comp S B[i] = w[1] * A[i-1] + w[2] * A[i+1]
    end
end

@schedule f! begin
    assume(size(w, 1) <= 16)
    split(S, i, 64)
    gpu(S, i0, i1)
    pad(w, 1)
    constant(w)
end
