struct Point
    x::Float64
    y::Float64
end

@tessella function lengths!(r::Vector{Float64}, x::Vector{Float64})
    for i in eachindex(r)
        p = Point(x[i], 1.0)
        r[i] = p.x^2 + p.y^2
    end
end
