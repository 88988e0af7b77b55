# Each row is longer than the one before
@tessella function rows!(y::Vector{Float64}, packed::Vector{Float64})
    width, first = 1, 1
    for i in 1:length(y)
        y[i] = 0
        for k in first:first+width-1
            y[i] += packed[k]
        end
        first += width
        width = 2 * width + 1
    end
end
