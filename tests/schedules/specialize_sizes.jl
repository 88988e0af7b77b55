# Known sizes have constant bounds; the rest runs as before.
#! run m=0 n=3
#! run m=8 n=5
#! run m=16 n=1
#! run m=17 n=2
#! run m=32 n=2
@tessella function shift!(A::Matrix{Float64}, B::Matrix{Float64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S A[i, j] = B[i, j] + i
    end
end

@schedule shift! begin
    split(S, i, 8)
    specialize(m == 16)
    specialize(m % 8 == 0)
end
