#! target cuda
@tessella function f!(A::Vector{Float64}, B::Vector{Float64}, steps::Int)
    for t in 1:steps
        for i in 1:length(A)
            @comp S A[i] = A[i] + B[i]
        end
    end
end

@schedule f! begin
    split(S, i, 32)
    gpu(S, i0, i1)
    copy_out(B, t)
end
