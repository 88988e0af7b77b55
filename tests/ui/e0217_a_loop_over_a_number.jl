@tessella function ramp!(x::Vector{Float64}, n::Int)
    for i in n
        x[i] = i
    end
end
