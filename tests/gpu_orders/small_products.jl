# Products of many small matrices: a thread has a column of results, which share what it loads of the second factor.
#! sizes C=a,a,n A=a,a,n B=a,a,n
#! run a=4 n=1
#! run a=4 n=37
#! run a=5 n=3
using Tessella

@tessella function small_products!(C::Array{Float32,3}, A::Array{Float32,3}, B::Array{Float32,3})
    for b in 1:size(C, 3), j in 1:4, i in 1:4
        s = 0.0f0
        for k in 1:4
            s += A[i, k, b] * B[k, j, b]
        end
        C[i, j, b] = s
    end
    return nothing
end
