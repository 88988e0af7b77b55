@tessella function smoothed(v::Vector{Float64}, n::Int)
    if n > 0
        w = zeros(length(v))
        for i in 2:length(v)-1
            w[i] = (v[i-1] + v[i+1]) / 2
        end
        return w
    else
        return v
    end
end
