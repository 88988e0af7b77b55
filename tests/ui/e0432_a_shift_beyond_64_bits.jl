@tessella function fill_with_ones!(A)
    for i in 1:length(A)
        @comp S A[i] = 1.0
    end
end

@schedule fill_with_ones! begin
    shift(S, i, 9223372036854775000)
end
