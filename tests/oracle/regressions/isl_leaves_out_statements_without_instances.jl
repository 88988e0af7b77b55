#! seed 1
# Found: isl's scheduler leaves out a statement without instances, and so did the order that was read from its answer.
@tessella function f!(A::Array{Float64,2}, B::Array{Int64,1}, n::Int64)
    for i in 1:n
        @comp S1 B[i - 2] = B[i]
        @comp S2 A[i, i] = 1.0
        for k in 2:1
            @comp S3 A[i, 1] = 1.5
        end
    end
    return nothing
end
