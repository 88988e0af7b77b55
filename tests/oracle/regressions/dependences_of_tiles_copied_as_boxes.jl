#! target cuda
#! seed 1
#! effort 16
# Found: the check of promotions' dependences. In tiles copied as boxes they are more than those of the elements, and refuse more.
@tessella function f!(A::Array{Int64,2}, B::Array{Int64,2}, n::Int64, m::Int64)
    for t in 1:m
        for j in 3:n - 2
            for i in 3:n - 2
                @comp S1 A[i, j] = (((B[i - 1, j + 1] + (4 * B[i, j - 1])) + B[i + 2, j - 1]) - B[i - 2, j - 2])
            end
        end
        for j in 3:n - 2
            for i in 3:n - 2
                @comp S2 B[i, j] = A[i, j]
            end
        end
    end
    return nothing
end

@schedule f! begin
    hexagonal((S1, S2), t, (j, i), 5, (3, 6))
    cache_shared(A, S2_phase1, i0)
end
