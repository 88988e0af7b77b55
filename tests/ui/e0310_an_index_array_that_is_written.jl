#! target cuda
# Each particle moves to a cell, and is counted there
@tessella function deposit!(count::Vector{Int}, cell::Vector{Int}, x::Vector{Float64}, width::Float64)
    for i in eachindex(x)
        cell[i] = unsafe_trunc(Int, x[i] / width) + 1
        count[cell[i]] += 1
    end
end
