@tessella function halve!(A)
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S A[i, j] /= 2
    end
end

@schedule halve! begin
    tile(S, (j, i), (32, 32))
    parallel(S, j)
end

#: title The name of a loop that is gone
#: why `tile` replaced `j` and `i` by `j0`, `i0`, `j1` and `i1`.
#: fix Write `parallel(S, j0)`.
