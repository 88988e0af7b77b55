@tessella function scale!(A, b)
    n = length(b)
    for i in 1:n
        @comp S A[i] = 2.0 * b[i]
    end
end

@schedule scale! begin
    for i = i
        S
        S
    end
end
