@tessella function scale!(A, b)
    n = length(b)
    for i in 1:n
        @comp S A[i] = 2.0 * b[i]
        @comp R b[i] = A[i] + 1.0
    end
end

@schedule scale! begin
    for i = (S = i,)
        S
        R
    end
end
