# Loops of their own for large matrices, on threads; the others stay as they stand.
#! run n=0
#! run n=1
#! run n=4
#! run n=5
#! run n=9
@tessella function doubled!(A::Matrix{Float64})
    n = size(A, 1)
    for j in 1:n, i in 1:n
        @comp S A[i, j] = 2.0 * A[i, j]
    end
end

@schedule doubled! begin
    pieces(S, n > 4)
    distribute(S, i)
    distribute(S, j)
    parallel(S, j)
end
