@tessella function average!(mean::Vector{Int}, total::Vector{Int}, count::Vector{Int})
    for i in eachindex(mean)
        mean[i] = total[i] ÷ 0
    end
end
