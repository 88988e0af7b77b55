#! target cuda
@tessella function f!(h::Vector{Int}, idx::Vector{Int})
    for i in eachindex(idx)
        @comp S h[idx[i]] = i
    end
end

@schedule f! begin
    atomic(S)
end
