#! target cuda
#! seed 1
#! sizes 6
# Found: isl error: unbounded optimum, where loops of overlapped tiles are generated.
@tessella function f!(A::Array{Float64,2}, B::Array{Float64,2}, n::Int64, m::Int64)
    for t in 1:m
        for j in 3:n - 1
            for i in 3:n - 1
                @comp S1 A[i, j] = B[i - 1, j + 1]
            end
        end
        for j in 2:n - 1
            for i in 2:n - 1
                @comp S2 B[i, j] = ((((1.25 * A[i + 1, j]) + A[i, j + 1]) + A[i + 1, j]) + A[i - 1, j - 1])
            end
        end
    end
    return nothing
end

@schedule f! begin
    overlapped(S1, t, (j, i), 1, (4, 2))
end
