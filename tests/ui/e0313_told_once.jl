const OFFSETS = (-1, 0, 1)

@tessella function spread!(counts::Vector{Int16}, cell::Vector{Int32}, x::Vector{Float64}, w::Vector{Int}, start::Vector{Int})
    for i in 2:length(x)-1
        x[i] *= 2
        cell[i] = round(Int, x[i])
        for q in 1:3
            counts[i+OFFSETS[q]] += w[i]
        end
    end
    @inbounds for r in eachindex(x), k in start[r]:start[r+1]-1
        x[r] += k
    end
end
