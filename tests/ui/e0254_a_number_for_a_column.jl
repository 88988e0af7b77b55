@tessella function clear!(A::Matrix{Float64})
    A[:, 1] = 0
    return nothing
end
