# The pairs of a set, packed into a triangle: an array whose extent is the half of a product.
using Tessella

@tessella function triangle(x::Vector{Float64})
    n = length(x)
    p = zeros(n * (n - 1) ÷ 2)
    for j in 2:n, i in 1:j-1
        p[(j-1)*(j-2)÷2+i] = x[j] - x[i]
    end
    for k in 1:n*(n-1)÷2
        p[k] = p[k] * p[k]
    end
    return p
end
#! sizes x=n
#! run n=0
#! run n=1
#! run n=60
