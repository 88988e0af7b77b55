#! target cuda
@tessella function f!(A::Matrix{Float32})
    for j in axes(A, 2), i in axes(A, 1)
        @comp S A[i, j] = 2f0 * A[i, j]
    end
end

@schedule f! begin
    tile(S, (j, i), (8, 32))
    separate(S, i0)
end
