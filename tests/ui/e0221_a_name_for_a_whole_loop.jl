@tessella function copy_rim!(A, B)
    n = size(A, 2)
    @comp S for j in 1:n
        A[1, j] = B[1, j]
    end
end
