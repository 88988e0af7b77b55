@tessella function norms!(r, x, y)
    for i in eachindex(r)
        r[i] = sqroot(x[i]^2 + y[i]^2)
    end
end
