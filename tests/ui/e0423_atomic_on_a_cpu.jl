@tessella function f!(h::Vector{Int}, idx::Vector{Int})
    for i in eachindex(idx)
        @comp S h[idx[i]] += 1
    end
end

@schedule f! begin
    atomic(S)
end
