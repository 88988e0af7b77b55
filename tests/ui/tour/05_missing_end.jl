@tessella function transpose!(B, A)
    m, n = size(A)
    for j in 1:n
        for i in 1:m
            B[j, i] = A[i, j]
    end
end

#: title A missing `end`
#: why Three blocks are opened and two are closed; the indentation shows which one is meant.
#: fix Close the inner `for`.
