#! type A=StridedMatrix{Float64}
#! target cuda
@tessella function double!(A)
    for j in axes(A, 2), i in axes(A, 1)
        A[i, j] *= 2
    end
end
