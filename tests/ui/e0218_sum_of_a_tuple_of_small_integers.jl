function total(a::Int8, b::Int8)
    return sum((a, b))
end
