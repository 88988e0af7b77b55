@tessella function weighed!(h::Vector{Float64}, bin::Vector{Int}, w::Vector{Float64})
    for p in eachindex(w)
        @comp S h[bin[p]] += w[p]
    end
end

@schedule weighed! begin
    owners(S, 1000)
end
