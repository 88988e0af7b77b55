@tessella function mix!(c::Vector{Float32}, a::Vector{Float64}, b::Vector{Float64})
    for i in eachindex(c)
        c[i] = Float32(a[i], b[i])
    end
end
