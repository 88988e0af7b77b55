function turns(x::Vector{Float64})
    n = 0.0
    for v in x
        n += fld1(v, 6.28)
    end
    return n
end
