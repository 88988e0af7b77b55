#! type A=Matrix{Float64}
@tessella function double!(A::Matrix{Real})
    for j in axes(A, 2), i in axes(A, 1)
        A[i, j] *= 2
    end
end
