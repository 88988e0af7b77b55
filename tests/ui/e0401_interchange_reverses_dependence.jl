@tessella function sweep!(A)
    m, n = size(A)
    for i in 2:m, j in 1:n-1
        @comp S A[i, j] = 0.5 * (A[i, j] + A[i-1, j+1])
    end
end

@schedule sweep! begin
    interchange(S, i, j)
end
