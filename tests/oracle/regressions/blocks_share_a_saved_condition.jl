#! target cuda
#! seed 1
#! sizes 5
# Found: wrong program. All blocks of a grid saved a condition in one element.
@tessella function f!(A::Array{Int64,1}, B::Array{Int64,2})
    n = size(A, 1)
    for i in 1:n
        for j in 1:i - 1
            (B[j, i] > B[j, i + 1]) && continue
            x1 = zeros(Int64, 6)
            @comp S1 x1[j + 1] += (A[i + 1] - (A[i] + 1))
            @comp S2 B[j, fld(i, 2) + 1] += 2
        end
    end
    return nothing
end

@schedule f! begin
    gpu(S3, j, k)
end
