@tessella function sweep!(A::Matrix{Float64})
    for t in 2:size(A, 2), i in 2:size(A, 1)-1
        @comp S A[i, t] = A[i-1, t-1] + A[i+1, t-1]
    end
end

@schedule sweep! begin
    parallelogram(S, (t, i), ((4, 4), (8, 8)))
end
