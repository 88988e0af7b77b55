const GRAVITY = 9.81

@tessella function fall!(v, dt)
    for i in eachindex(v)
        v[i] += 9.81.0 * dt
    end
end
