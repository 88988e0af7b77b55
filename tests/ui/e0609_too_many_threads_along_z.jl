#! target cuda

@tessella function scale!(A)
    m, n, p = size(A)
    for k in 1:p, j in 1:n, i in 1:m
        @comp S A[i, j, k] *= 2
    end
end

@schedule scale! begin
    tile(S, (k, j, i), (128, 2, 2))
    gpu(S, (k0, j0, i0), (k1, j1, i1))
end
