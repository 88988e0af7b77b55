@tessella function count_above!(counts::Vector{Int32}, x::Matrix{Float64}, limit::Float64)
    for j in 1:size(x, 2), i in 1:size(x, 1)
        if x[i, j] > limit
            counts[j] += 1
        end
    end
end
