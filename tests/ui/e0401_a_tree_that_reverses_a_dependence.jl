@tessella function wave!(A)
    m, n = size(A)
    for j in 2:n, i in 1:m-1
        @comp S A[i, j] = 0.5 * A[i+1, j-1]
    end
end

@schedule wave! begin
    for i = i
        for j = j
            S
        end
    end
end
