#! target cuda
@tessella function f!(A::Vector{Float64}, B::Vector{Float64}, steps::Int)
    for t in 1:steps
        for i in 1:length(A)
            @comp S B[i] = A[i]
        end
    end
    for t in 1:steps
        for i in 1:length(A)
            @comp R A[i] = B[i] + 1.0
        end
    end
end

@schedule f! begin
    copy_out(A, t)
end
