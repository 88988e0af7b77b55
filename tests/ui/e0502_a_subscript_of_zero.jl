@tessella function wrap!(x)
    n = length(x)
    for i in 2:n
        x[i] = x[i] - x[i-1]
    end
    x[1] = x[0]
end
