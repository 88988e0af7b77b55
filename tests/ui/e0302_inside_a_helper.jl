function add_row!(y, values, starts, i)
    for k in starts[i]:starts[i+1]-1
        y[i] += values[k]
    end
end

@tessella function sums!(y::Vector{Float64}, values::Vector{Float64}, starts::Vector{Int})
    for i in 1:length(y)
        add_row!(y, values, starts, i)
    end
    return y
end
