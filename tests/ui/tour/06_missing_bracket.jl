@tessella function blur!(B, A)
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        B[i, j] = 0.25 * (A[i-1, j] + A[i+1, j] + A[i, j+1] + A[i, j-1]
    end
end

#: title A missing bracket
#: why The bracket opened in front of the sum is not closed when its line ends, nor before the `end`.
#: fix Close it behind `A[i, j-1]`.
