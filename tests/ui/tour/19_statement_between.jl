@tessella function matvec!(y, A, x)
    m, n = size(A)
    for i in 1:m
        @comp Z y[i] = 0
        for j in 1:n
            @comp S y[i] += A[i, j] * x[j]
        end
    end
end

@schedule matvec! begin
    interchange(S, i, j)
end

#: title An interchange over a statement
#: why The initialization runs once for each `i`; exchanging the loops around it would change that.
#: fix Separate the two first, `distribute(S, i)`, and interchange then.
