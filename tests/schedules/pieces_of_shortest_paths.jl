# Row and column k change in step k, which keeps every loop in order; the pieces beside them wait for nothing.
#! run n=0
#! run n=1
#! run n=2
#! run n=7
@tessella function shortest!(path::Matrix{Int32})
    n = size(path, 1)
    for k in 1:n, j in 1:n, i in 1:n
        @comp S path[i, j] = min(path[i, j], path[i, k] + path[k, j])
    end
end

@schedule shortest! begin
    pieces(S, j, k)
    distribute(S, i)
    distribute(S, j)
    parallel(S, j)
    parallel(S_piece2, j)
end
