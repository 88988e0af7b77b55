@tessella function heat!(A)
    for i in 2:length(A)
        @comp S A[i] = A[i-1]
    end
end

@schedule heta! begin
    unroll(S, i, 4)
end
