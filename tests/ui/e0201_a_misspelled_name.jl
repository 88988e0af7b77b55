@tessella function advect!(q, u, dt, dx, steps)
    nx = length(q)
    for t in 1:stpes
        for i in nx:-1:2
            q[i] -= u * dt / dx * (q[i] - q[i-1])
        end
        q[1] = inflow
    end
end
