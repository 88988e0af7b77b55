# Particles are counted in cells, and cells are summed up in rows
@tessella function rows!(y::Vector{Float64}, mass::Vector{Float64}, cell::Vector{Int}, start::Vector{Int}, x::Vector{Float64})
    for p in eachindex(x)
        cell[p] = unsafe_trunc(Int, x[p]) + 1
        mass[cell[p]] += 1
    end
    @inbounds for r in eachindex(y)
        for k in start[r]:start[r+1]-1
            y[r] += mass[k]
        end
    end
end
