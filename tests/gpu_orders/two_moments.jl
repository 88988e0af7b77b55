# Two sums of each column, of one tile on its way.
@tessella function two_moments!(u::Vector{Float64}, v::Vector{Float64}, A::Matrix{Float64})
    for j in axes(A, 2)
        s = 0.0
        a = 0.0
        for i in axes(A, 1)
            s += A[i, j]
            a += A[i, j] * A[i, j]
        end
        u[j] = s
        v[j] = a
    end
end
#! sizes u=n v=n A=m,n
#! run m=0 n=3
#! run m=70 n=45
