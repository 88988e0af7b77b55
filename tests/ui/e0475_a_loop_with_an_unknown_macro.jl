@tessella function scale!(A, b)
    n = length(b)
    for i in 1:n
        @comp S A[i] = 2.0 * b[i]
    end
end

@schedule scale! begin
    @simd for i = i
        S
    end
end
