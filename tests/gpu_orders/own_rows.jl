# A work array that the source makes once for all iterations of two loops: each gets an array of its own, and many small products.
#! sizes A=p,q,r C=p,p row=p
#! run p=0 q=2 r=2
#! run p=1 q=1 r=1
#! run p=5 q=3 r=0
#! run p=17 q=33 r=2
#! run p=65 q=35 r=1
using Tessella

@tessella function own_rows!(A::Array{Float64,3}, C::Matrix{Float64}, row::Vector{Float64})
    np, nq, nr = size(A)
    for r in 1:nr, q in 1:nq
        for p in 1:np
            row[p] = 0
            for s in 1:np
                row[p] += A[s, q, r] * C[s, p]
            end
        end
        for p in 1:np
            A[p, q, r] = row[p]
        end
    end
end
