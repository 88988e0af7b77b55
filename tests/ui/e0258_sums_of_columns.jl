@tessella function columns!(s::Matrix{Float64}, A::Matrix{Float64})
    s .= sum(A; dims = 1)
    return nothing
end
