function add_row!(y, values, first, width, i)
    for k in first:first+width-1
        y[i] += values[k]
    end
end

@tessella function sums!(y::Vector{Float64}, values::Vector{Float64})
    first = 1
    for i in 1:length(y)
        add_row!(y, values, first, i, i)
        first = 2 * first + i
    end
    return y
end
