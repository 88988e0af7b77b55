@tessella function doubled_where!(A::Vector{Float64}, flag::Bool)
    if flag
        B = 2 .* A
    end
    A .= B
    return nothing
end
