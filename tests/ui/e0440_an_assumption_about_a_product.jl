@tessella function double!(A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S A[i, j] *= 2
    end
end

@schedule double! begin
    assume(m * n >= 100)
end
