#! draw
#! size n=8 steps=2
#! dims i,j
#! fix t=1
@tessella function seidel2d!(A, steps)
    n = size(A, 1)
    for t in 1:steps, j in 2:n-1, i in 2:n-1
        @comp S A[i, j] = (A[i-1, j] + A[i+1, j] + A[i, j] + A[i, j-1] + A[i, j+1]) / 5
    end
end
