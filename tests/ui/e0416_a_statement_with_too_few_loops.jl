@tessella function rows!(y, A)
    m, n = size(A)
    for i in 1:m
        @comp Z y[i] = 0
    end
    for j in 1:n, i in 1:m
        @comp S y[i] += A[i, j]
    end
end

@schedule rows! begin
    after(Z, S, i)
end
