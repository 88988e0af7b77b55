@tessella function settle!(u::Vector{Float64})
    while true
        for i in 2:length(u)-1
            u[i] = (u[i-1] + u[i+1]) / 2
        end
    end
end
