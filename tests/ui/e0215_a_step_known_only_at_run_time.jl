@tessella function decimate!(y, x, factor::Int)
    for i in 1:factor:length(x)
        y[i] = x[i]
    end
end
