@tessella function doitgen!(A::Array{Float64,3}, C::Matrix{Float64}, row::Vector{Float64})
    for r in axes(A, 3), q in axes(A, 2)
        for p in axes(A, 1)
            @comp S0 row[p] = 0.0
            for s in axes(A, 1)
                @comp S1 row[p] += A[s, q, r] * C[s, p]
            end
        end
        for p in axes(A, 1)
            @comp S2 A[p, q, r] = row[p]
        end
    end
end
