# Particles move to cells, which count them and lend them their weight: the cell of a particle is computed here, tested by its own thread, and counted
# in one piece.
#! sizes count=cells cell=particles weight=cells force=particles x=particles
#! run cells=100 particles=1
#! run cells=7 particles=0
#! run cells=120 particles=90
using Tessella

@tessella function cells_counted!(count::Vector{Int32}, cell::Vector{Int}, weight::Vector{Float64}, force::Vector{Float64}, x::Vector{Float64})
    for p in eachindex(x)
        cell[p] = unsafe_trunc(Int, abs(x[p])) + 1
        count[cell[p]] += 1
        force[p] = weight[cell[p]] * x[p]
    end
    return nothing
end
