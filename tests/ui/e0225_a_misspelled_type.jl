@tessella function scale!(A::Matrx{Float64}, s::Float64)
    for j in axes(A, 2), i in axes(A, 1)
        A[i, j] *= s
    end
end
