@tessella function relax!(u::Vector{Float64}, tol::Float64)
    err = 1.0
    while err > tol
        err = 0.0
        for i in 2:length(u)-1
            new = (u[i-1] + u[i+1]) / 2
            err = max(err, abs(new - u[i]))
            u[i] = new
        end
    end
end
