# More blocks along y than a grid may have: several launches share them.
#! sizes A=2,n,p B=2,n,p
#! run n=0 p=3
#! run n=2 p=1
#! run n=1 p=65535
#! run n=1 p=65537
using Tessella

@tessella function many_blocks!(A::Array{Float32,3}, B::Array{Float32,3})
    n, p = size(A, 2), size(A, 3)
    for k in 1:p, j in 1:n, i in 1:2
        @comp S A[i, j, k] = 2 * B[i, j, k]
    end
    return nothing
end

@schedule many_blocks! begin
    @block y for k = k
        @block x for j = j
            @thread x for i = i
                S
            end
        end
    end
end
