# Counters of 32 bits, which the source adds to in 64: threads do so in one piece. Those of 16 bits stay in order.
#! sizes counts=n few=n down=n idx=m x=m
#! within idx=n
#! run n=1 m=1
#! run n=5 m=700
#! run n=33 m=1030
@tessella function narrow_counts!(counts::Vector{UInt32}, few::Vector{Int16}, down::Vector{UInt32}, idx::Vector{Int64}, x::Vector{Int16})
    for i in 1:length(idx)
        counts[idx[i]] += 1
    end
    for i in 1:length(idx)
        few[idx[i]] += 1
    end
    for i in 1:length(idx)
        down[idx[i]] = (3 + down[idx[i]] + 2 * x[i] - x[i] * x[i]) % UInt32
    end
end
