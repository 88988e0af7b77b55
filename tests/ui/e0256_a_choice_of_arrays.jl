either(a, b, n) = n > 0 ? a : b

@tessella function smoothed(v::Vector{Float64}, n::Int)
    w = zeros(length(v))
    for i in 2:length(v)-1
        w[i] = (v[i-1] + v[i+1]) / 2
    end
    return sum(either(w, v, n))
end
