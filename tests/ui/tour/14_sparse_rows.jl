@tessella function row_sums!(y::Vector{Float64}, start::Vector{Int}, value::Vector{Float64})
    for i in 1:length(y)
        y[i] = 0
        for k in start[i]:start[i+1]-1
            y[i] += value[i]
        end
    end
end

#: title A loop over the entries of a sparse row
#: why The bounds come from an array, so the set of iterations is not known before the data is.
#: fix Keep this loop in Julia; transpile the dense loops around it.
