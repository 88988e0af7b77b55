@tessella function f!(h::Vector{Int64}, x::Vector{Int64}, y::Vector{Int64})
    @assert length(h) == 16
    for j in 1:16, i in eachindex(x)
        @comp R y[x[i]] += h[j]
    end
end

@schedule f! begin
    privatize(h, R, j)
end
