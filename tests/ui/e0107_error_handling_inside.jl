@tessella function invert!(y, x)
    for i in eachindex(x)
        try
            y[i] = 1 / x[i]
        catch
            y[i] = 0.0
        end
    end
end
