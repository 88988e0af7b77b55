@tessella function f!(h::Vector{Int64}, idx::Vector{Int64}, n::Int)
    counts = zeros(Int64, n)
    for i in eachindex(idx)
        @comp S counts[idx[i]] += 1
    end
    for i in 1:n
        @comp T h[i] = counts[i]
    end
end

@schedule f! begin
    store_in(S, c, i -> i % 4)
end
