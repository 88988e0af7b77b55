# No partial tiles where sizes are multiples of the tile's.
#! run m=0 n=8
#! run m=8 n=0
#! run m=8 n=16
@tessella function double!(A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S A[i, j] *= 2
    end
end

@schedule double! begin
    assume(m % 8 == 0 && mod(size(A, 2), 4) == 0)
    tile(S, (j, i), (4, 8))
    parallel(S, j0)
end
