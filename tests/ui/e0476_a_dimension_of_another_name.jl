#! draw
#! dims i,k
@tessella function scale!(A, B)
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S A[i, j] = 2.0 * B[i, j]
    end
end
