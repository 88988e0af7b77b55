@tessella function moved!(x::Vector{Float64}, particle::Particle)
    x[1] += particle.v
end
