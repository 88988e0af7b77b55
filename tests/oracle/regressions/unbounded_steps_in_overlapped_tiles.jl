#! target cuda
#! seed 1
#! sizes 6
# Found: isl error: unbounded optimum, where loops of overlapped tiles are generated.
@tessella function f!(A::Array{Float32,2}, B::Array{Float32,2}, n::Int64, m::Int64)
    for t in 1:4
        for j in 2:n - 1
            for i in 1:n
                @comp S1 A[i, j] = B[i, j]
            end
        end
        for j in 3:n - 1
            for i in 3:n - 1
                @comp S2 B[i, j] = (((0.75f0 * A[i + 1, j - 1]) + A[i + 1, j + 1]) - (1.25f0 * A[i + 1, j + 1]))
            end
        end
    end
    return nothing
end

@schedule f! begin
    overlapped(S1, t, (j, i), 2, (2, 5))
end
