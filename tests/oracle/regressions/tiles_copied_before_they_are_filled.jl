#! target c
#! seed 1
#! sizes 9
#! effort 16
# Found: wrong program. Elements of the tile that only a later step stores were copied into registers first.
@tessella function f!(A::Array{Float32,2}, B::Array{Float32,2}, steps::Int64)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1
            for i in 2:m-1
                @comp S1 B[i, j] = 0.25f0 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
            end
        end
        for j in 2:n-1
            for i in 2:m-1
                @comp S2 A[i, j] = B[i, j]
            end
        end
    end
    return nothing
end

@schedule f! begin
    overlapped(S1, t, (j, i), 2, (3, 4))
    cache_register(A_tile, S2, t)
end
