# No schedule: each nest waits for rows of the one before, so strips of all rows go through them together, the later ones some
# rows behind. Of `b` and `c`, a few rows are alive at a time.
#! run n=0 m=0
#! run n=1 m=1
#! run n=2 m=5
#! run n=7 m=4
#! run n=129 m=11
#! run n=300 m=9
@tessella function blur!(out::Matrix{Float64}, a::Matrix{Float64})
    n, m = size(a)
    b = zeros(n, m)
    for j in 1:m, i in 2:n-1
        @comp S b[i, j] = (a[i-1, j] + a[i, j] + a[i+1, j]) / 3.0
    end
    c = zeros(n, m)
    for j in 2:m-1, i in 2:n-1
        @comp R c[i, j] = (b[i, j-1] + b[i, j] + b[i, j+1]) / 3.0
    end
    for j in 3:m-2, i in 2:n-1
        @comp Q out[i, j] = c[i, j+1] - c[i, j-1] + b[i, j]
    end
    return nothing
end
