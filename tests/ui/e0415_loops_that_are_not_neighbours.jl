@tessella function pipeline!(A, B, C)
    n = length(A)
    for i in 1:n
        @comp P A[i] = 2 * A[i]
    end
    for i in 1:n
        @comp Q B[i] = 1 / B[i]
    end
    for i in 1:n
        @comp R C[i] = A[i] + B[i]
    end
end

@schedule pipeline! begin
    fuse(P, R, i)
end
