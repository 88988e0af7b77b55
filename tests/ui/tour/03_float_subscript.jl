@tessella function fold!(y::Vector{Float64}, x::Vector{Float64})
    n = length(x)
    for i in 1:length(y)
        y[i] = x[i] + x[n/2+i]
    end
end

#: title Half of a length
#: why `/` gives a float in Julia, even for two integers, and a float is no subscript.
#: fix Write `n ÷ 2`.
