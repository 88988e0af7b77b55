@tessella function row_sums!(y::Vector{Float64}, start::Vector{Int}, count::Vector{Int}, value::Vector{Float64})
    for i in 1:length(y)
        start[i+1] = start[i] + count[i]
    end
    for i in 1:length(y)
        y[i] = 0
        for k in start[i]:start[i+1]-1
            y[i] += value[k]
        end
    end
end
#: title Offsets that are summed up on the way
#: why Where a loop with such bounds leaves its arrays is looked at before anything is written, and what `start` will hold is not known then.
#: fix Sum the offsets up in a function of its own and pass them on; the loop over the rows goes through as it is.
