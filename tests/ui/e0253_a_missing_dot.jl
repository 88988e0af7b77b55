@tessella function lift!(v::Vector{Float64})
    v .= v + 1
    return nothing
end
