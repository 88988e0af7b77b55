@tessella function step!(v, u)
    n = length(u)
    for i in 2:n-1
        @comp S v[i] = (u[i-1] + u[i+1]) / 2
    end
    for i in 2:n-1
        @comp R u[i] = v[i]
    end
end

@schedule step! begin
    fuse(S, R, i)
end

#: title Two sweeps made one
#: why The second sweep overwrites `u[i]` while the first still needs it for the next point.
#: fix Shift the second sweep by an iteration first, `shift(R, i, 1)`, or leave two loops.
