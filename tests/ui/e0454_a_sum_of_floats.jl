#! target cuda
@tessella function f!(h::Vector{Float64}, idx::Vector{Int})
    for i in eachindex(idx)
        @comp S h[idx[i]] += 1.0
    end
end

@schedule f! begin
    atomic(S)
end
