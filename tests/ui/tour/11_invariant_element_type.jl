@tessella function scale!(A::Matrix{Real}, s)
    for j in axes(A, 2), i in axes(A, 1)
        A[i, j] *= s
    end
end

#! type A=Matrix{Float64}
#: title A `Matrix{Real}` that no matrix is
#: why A `Matrix{Float64}` is no `Matrix{Real}`: element types of Julia are invariant. Plain Julia would find no method.
#: fix Write `A::Matrix{<:Real}`.
