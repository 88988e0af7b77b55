@tessella function drift!(A)
    m, n = size(A)
    for i in 2:m, j in 1:n-1
        @comp S A[i, j] += 0.1 * A[i-1, j+1]
    end
end

@schedule drift! begin
    interchange(S, i, j)
end

#: title An interchange across a diagonal
#: why After the interchange, an element would be read before the iteration that writes it.
#: fix Leave the order; or `skew` the inner loop by the outer one first.
