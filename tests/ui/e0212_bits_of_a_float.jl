@tessella function parity!(p::Vector{Int}, x::Vector{Float64})
    for i in eachindex(x)
        p[i] = x[i] & 1
    end
end
