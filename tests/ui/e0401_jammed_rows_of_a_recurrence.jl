@tessella function sweep!(A::Matrix{Float64})
    m, n = size(A)
    for i in 2:m, j in 1:n-1
        @comp S A[i, j] = A[i-1, j+1] + 1
    end
end

@schedule sweep! begin
    unroll_and_jam(S, i, 2)
end
