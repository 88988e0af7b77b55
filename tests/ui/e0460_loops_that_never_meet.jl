@tessella function clear!(A)
    n = size(A, 1)
    for j in 1:n, i in j+1:n
        @comp S A[i, j] = 0.0
    end
end

@schedule clear! begin
    pieces(S, i, j)
end
