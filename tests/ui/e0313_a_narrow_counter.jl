#! target cuda
@tessella function weighed_counts!(counts::Vector{Int32}, bin::Vector{Int}, weight::Vector{Int})
    for i in eachindex(bin)
        counts[bin[i]] += weight[i]
    end
end
