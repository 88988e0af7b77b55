@tessella function folded!(A, n)
    t = zeros(n)
    for i in 1:n
        @comp T t[i] = 2 * A[i]
    end
    for i in 1:n
        A[i] = t[i] + t[n+1-i]
    end
end

@schedule folded! begin
    store_in(T, b, i -> (fld(i - 5, 9223372036854775807), i))
end
