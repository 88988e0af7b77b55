@tessella function sweep!(u::Matrix{Float64})
    m, n = size(u)
    line = zeros(m > 8 ? m : n)
    for j in 1:n, i in 1:m
        line[i] = u[i, j]
        u[i, j] = 2 * line[i]
    end
end
