@tessella function outer!(A, x)
    m, n = size(A)
    for i in 1:min(m, n, length(x))
        @comp P s = exp(-x[i])
        for j in 1:i
            @comp Q A[i, j] = s
        end
    end
end

@schedule outer! begin
    distribute(P, i)
end
