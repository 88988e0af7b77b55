# Cosine transforms of blocks of eight by eight: a thread has a block, and a part of a work array that belongs to it.
@tessella function blocks_transformed!(out::Matrix{Float32}, img::Matrix{Float32}, basis::Matrix{Float32})
    m, n = size(img)
    tmp = zeros(Float32, 8, 8)
    for bj in 0:n÷8-1, bi in 0:m÷8-1
        for v in 1:8, i in 1:8
            acc = 0f0
            for j in 1:8
                acc += basis[v, j] * img[8bi+i, 8bj+j]
            end
            tmp[i, v] = acc
        end
        for v in 1:8, u in 1:8
            acc = 0f0
            for i in 1:8
                acc += basis[u, i] * tmp[i, v]
            end
            out[8bi+u, 8bj+v] = acc
        end
    end
end
#! sizes out=m,n img=m,n basis=b,b
#! run m=0 n=8 b=8
#! run m=7 n=9 b=8
#! run m=24 n=17 b=8
#! run m=300 n=40 b=8
