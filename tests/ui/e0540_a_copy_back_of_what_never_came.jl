#! target cuda
@tessella function f!(A::Vector{Float64}, B::Vector{Float64}, steps::Int)
    for t in 1:steps
        for i in 2:length(A)-1
            @comp S A[i] = 2 * A[i]
        end
    end
    for k in 1:length(B)
        @comp R B[k] = 0.0
    end
end

@schedule f! begin
    split(S, i, 64)
    gpu(S, i0, i1)
    split(R, k, 64)
    gpu(R, k0, k1)
    copy_in(A, t; once=true)
end
