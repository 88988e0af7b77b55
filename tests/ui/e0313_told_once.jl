#! target cuda
const OFFSETS = (-1, 0, 1)

@tessella function spread!(counts::Vector{Int16}, cell::Vector{Int32}, x::Vector{Float64}, w::Vector{Int})
    for i in 2:length(x)-1
        x[i] *= 2
        cell[i] = round(Int, x[i])
        for q in 1:3
            counts[i+OFFSETS[q]] += w[i]
        end
    end
end
