#! type A=Matrix{Float32}
@tessella function trace(A::Matrix{Float64})
    t = zero(eltype(A))
    for i in 1:size(A, 1)
        t += A[i, i]
    end
    return t
end
