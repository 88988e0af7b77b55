@tessella function fill_with_ones!(A)
    n = length(A)
    for i in 1:n
        @comp S A[i] = 1.0
    end
end

@schedule fill_with_ones! begin
    split(S, i, 4294967295)
    split(S, i0, 4294967295)
end
