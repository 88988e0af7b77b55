@tessella function f!(h::Vector{Float64}, x::Vector{Int64}, w::Vector{Float64})
    @assert length(h) == 16
    for j in 1:4, i in eachindex(x)
        @comp S h[x[i]] += w[i]
    end
end

@schedule f! begin
    privatize(h, S, j)
end
