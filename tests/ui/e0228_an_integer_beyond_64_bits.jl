@tessella function hash!(h::Vector{Int})
    for i in eachindex(h)
        h[i] = h[i] * 14695981039346656037183729
    end
end
