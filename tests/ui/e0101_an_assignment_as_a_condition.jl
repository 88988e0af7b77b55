@tessella function mark!(x::Vector{Float64}, y::Vector{Float64})
    for i in eachindex(x)
        if x[i] = 0
            y[i] = 1
        end
    end
end

@tessella function stop!(x::Vector{Float64}, n::Int)
    if n = 0
        x .= 0
    elseif n = 1
        x .= 1
    end
end
