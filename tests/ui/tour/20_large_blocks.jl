@tessella function square!(A)
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S A[i, j] = A[i, j]^2
    end
end

@schedule square! begin
    tile(S, (j, i), (64, 64))
    gpu(S, (j0, i0), (j1, i1))
end

#! target cuda
#: title Tiles larger than a thread block
#: why A tile of 64 x 64 points makes 4096 threads, and a thread block has at most 1024.
#: fix Use `tile(S, (j, i), (8, 64))`.
