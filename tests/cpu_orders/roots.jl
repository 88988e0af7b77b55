# Newton's method for each element: points end on their own, on threads, and their variables stay in registers.
using Tessella

@tessella function roots!(root::Matrix{Float64}, steps::Matrix{Int32}, a::Matrix{Float64}, most::Int)
    for j in axes(a, 2), i in axes(a, 1)
        x = 1.0
        n = 0
        while n < most && abs(x * x - a[i, j]) > 1e-12
            x = 0.5 * (x + a[i, j] / x)
            n += 1
        end
        root[i, j] = x
        steps[i, j] = n
    end
end
