#! target cuda
@tessella function f!(U::Matrix{Float32}, V::Matrix{Float32}, U2::Matrix{Float32}, V2::Matrix{Float32}, steps::Int)
    m, n = size(U)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            r = U[i, j] * V[i, j]
            @comp S U2[i, j] = 0.5f0 * (U[i-1, j] + U[i+1, j]) - r
            @comp R V2[i, j] = 0.5f0 * (V[i, j-1] + V[i, j+1]) + r
        end
        U, U2 = U2, U
        V, V2 = V2, V
    end
end

@schedule f! begin
    stream(S, t, 4, 2)
end
