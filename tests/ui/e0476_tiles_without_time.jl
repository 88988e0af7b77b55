#! draw
#! tiling
@tessella function scale!(A::Matrix{Float64})
    for i in 1:length(A)
        @comp S A[i, 1] = 2.0 * A[i, 1]
    end
end
