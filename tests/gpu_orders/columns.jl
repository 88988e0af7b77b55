# A triangular solution: the host goes along diagonals of tiles, and a block takes the unknowns of a tile out of its rows.
#! sizes x=n b=n L=n,n
#! run n=0
#! run n=1
#! run n=9
#! run n=67
using Tessella

@tessella function columns!(x::Vector{Float64}, L::Matrix{Float64}, b::Vector{Float64})
    for i in 1:length(x)
        x[i] = b[i]
        for j in 1:i-1
            x[i] -= L[i, j] * x[j]
        end
        x[i] /= L[i, i]
    end
end
