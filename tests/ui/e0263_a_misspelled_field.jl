@tessella function momenta!(p::Vector{Float64}, m::Vector{Float64}, v::Vector{Float64})
    for i in eachindex(p)
        body = (mass = m[i], speed = v[i])
        p[i] = body.mas * body.speed
    end
end
