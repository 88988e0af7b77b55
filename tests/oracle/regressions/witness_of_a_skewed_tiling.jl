#! target cuda
#! seed 78
#! effort 16
# Found: the witness of a tiling that dependences skew, held against an order that was skewed by none.
@tessella function f!(A::Array{Int64,2}, n::Int64, m::Int64)
    for t in 1:2
        for j in 3:n
            for i in 1:n
                @comp S1 A[i, j] = A[i, j - 1]
            end
        end
    end
    return nothing
end

@schedule f! begin
    time_skew(S1, t, (j, i), 3, (4, 3))
end
