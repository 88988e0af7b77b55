@tessella function f!(A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp T s = 2 * A[i, j]
        @comp S A[i, j] = s * s
    end
end

@schedule f! begin
    store_in(T, b, (j, i) -> (fld(i, 2), j))
end
