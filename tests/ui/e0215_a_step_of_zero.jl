@tessella function every!(y, x)
    for i in 1:0:length(x)
        y[i] = x[i]
    end
end
