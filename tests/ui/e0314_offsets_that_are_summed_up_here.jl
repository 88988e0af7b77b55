@tessella function gather_rows!(y::Vector{Float64}, off::Vector{Int}, len::Vector{Int}, x::Vector{Float64})
    off[1] = 1
    for i in 1:length(len)
        off[i+1] = off[i] + len[i]
    end
    for i in 1:length(len)
        for k in off[i]:off[i+1]-1
            y[i] += x[k]
        end
    end
end
