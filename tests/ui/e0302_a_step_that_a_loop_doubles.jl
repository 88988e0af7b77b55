function butterflies!(x::Vector{Float64})
    n = length(x)
    len = 2
    while len <= n
        h = len ÷ 2
        for i in 1:len:n
            for k in 0:h-1
                x[i+k] += x[i+k+h]
            end
        end
        len *= 2
    end
end
