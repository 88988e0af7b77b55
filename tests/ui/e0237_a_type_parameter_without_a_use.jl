@tessella function seed!(x::Vector{Float64}) where {T}
    for i in eachindex(x)
        x[i] = T(1) / 3
    end
end
