#! target cuda
@tessella function f!(C, A)
    for j in axes(C, 2), i in axes(C, 1)
        for k in 1:64
            @comp S C[i, j] += A[i, k]
        end
    end
end

@schedule f! begin
    tile(S, (j, i), (8, 32))
    gpu(S, (j0, i0), (j1, i1))
    prefetch(A, S, k, 8)
end
