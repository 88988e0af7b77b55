@tessella function scaled!(A, B, A)
    for i in 1:length(A)
        A[i] = 2 * B[i]
    end
end
