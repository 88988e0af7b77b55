const DT = DX / SPEED
const SPEED = 340.0
const DX = DT * SPEED

@tessella function step!(p::Vector{Float64}, v::Vector{Float64})
    for i in 2:length(p)
        p[i] -= DT * (v[i] - v[i-1])
    end
end
