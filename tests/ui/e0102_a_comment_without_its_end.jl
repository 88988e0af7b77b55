# A kernel with a block comment that was never closed
@tessella function scale!(y, x, a)
    #= the old version divided by length(x)
    for i in eachindex(y)
        y[i] = a * x[i]
    end
end
