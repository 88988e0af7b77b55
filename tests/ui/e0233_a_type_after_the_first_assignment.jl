@tessella function energy(v::Vector{Float64})
    e = 0.0
    for i in eachindex(v)
        e::Float32 = e + v[i]^2
    end
    return e
end
