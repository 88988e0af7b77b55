@tessella function below!(flag::Vector{Bool}, count::Vector{Int}, limit::Float64)
    for i in eachindex(count)
        flag[i] = count[i] < limit
    end
end
