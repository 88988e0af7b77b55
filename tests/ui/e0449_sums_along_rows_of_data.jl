@tessella function f!(h::Vector{Int64}, first::Vector{Int64}, x::Vector{Int64})
    @assert length(h) == 16
    for j in 1:length(first)-1
        for p in first[j]:first[j+1]-1
            @comp S h[x[p]] += j
        end
    end
end

@schedule f! begin
    privatize(h, S, p)
end
