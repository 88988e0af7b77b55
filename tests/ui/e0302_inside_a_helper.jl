function add_row!(y, values, width, i)
    for k in (i-1)*width+1:i*width
        y[i] += values[k]
    end
end

@tessella function sums!(y::Vector{Float64}, values::Vector{Float64}, width::Int)
    for i in 1:length(y)
        add_row!(y, values, width, i)
    end
    return y
end
