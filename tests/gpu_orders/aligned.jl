# A table in which each element waits for three neighbours: tiles along diagonals, points of a tile along diagonals inside of it, all in
# shared memory.
#! sizes score=m,n similarity=m,n penalty=3
#! run m=0 n=0
#! run m=1 n=2
#! run m=33 n=40
#! run m=70 n=67
using Tessella

@tessella function aligned!(score::Matrix{Int64}, similarity::Matrix{Int64}, penalty::Int64)
    m, n = size(score)
    for j in 2:n, i in 2:m
        score[i, j] = max(score[i-1, j-1] + similarity[i, j], score[i, j-1] - penalty, score[i-1, j] - penalty)
    end
end
