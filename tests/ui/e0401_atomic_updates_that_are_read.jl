#! target cuda
# What another statement reads meanwhile keeps its place among the updates.
@tessella function f!(h::Vector{Int}, seen::Vector{Int}, idx::Vector{Int})
    for i in eachindex(idx)
        @comp S h[idx[i]] += 1
        @comp R seen[i] = h[idx[i]]
    end
end

@schedule f! begin
    atomic(S)
    split(S, i, 32)
    gpu(S, i0, i1)
end
