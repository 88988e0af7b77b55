@tessella function half(v::Vector{Float64})::Vector{Float32}
    return v ./ 2
end
