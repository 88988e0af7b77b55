# Rows of a packed triangle
@tessella function rows!(y::Vector{Float64}, packed::Vector{Float64})
    for i in 1:length(y)
        y[i] = 0
        for k in (i-1)*i÷2+1:i*(i+1)÷2
            y[i] += packed[k]
        end
    end
end
