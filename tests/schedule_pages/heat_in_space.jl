@tessella function heat3d!(A::Array{Float32,3}, B::Array{Float32,3}, steps::Int)
    l, m, n = size(A)
    for t in 1:steps
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp S B[i, j, k] = 0.1f0 * (A[i-1, j, k] + A[i+1, j, k] + A[i, j-1, k] + A[i, j+1, k] + A[i, j, k-1] + A[i, j, k+1])
        end
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp R A[i, j, k] = B[i, j, k]
        end
    end
end
