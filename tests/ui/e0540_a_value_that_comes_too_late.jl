#! target cuda
@tessella function f!(A::Vector{Float64}, B::Vector{Float64})
    for i in 1:length(B)
        @comp S B[i] = A[i]
    end
    for k in 1:length(B)
        @comp R B[k] = B[k] + A[k]
    end
end

@schedule f! begin
    split(S, i, 32); gpu(S, i0, i1)
    split(R, k, 32); gpu(R, k0, k1)
    copy_in(A, k0; once=true)
end
