@tessella function fill_with_ones!(A)
    n = length(A)
    for i in 1:n
        @comp S A[i] = 1.0
    end
end

@schedule fill_with_ones! begin
    pieces(S, 4611686018427387904 * n > 9)
end
