@tessella function momenta!(p::Vector{Float64}, m::Vector{Float64}, v::Vector{Float64})
    for i in eachindex(p)
        body = (mass = m[i], mass = v[i])
        p[i] = body.mass
    end
end
