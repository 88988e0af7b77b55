@tessella function jacobi!(u, v, steps)
    n = length(u)
    for t in 1:steps
        for i in 2:n-1
            v[i] = (u[i-1] + u[i+1]) / 2
        end
        println("step ", t)
        for i in 2:n-1
            u[i] = v[i]
        end
    end
end
