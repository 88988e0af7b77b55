@tessella function relax!(x::Vector{Float64}, b::Vector{Float64}, omega::Float64)
    for i in 2:length(x)-1
        x[i] += omega[i] * (b[i] - x[i])
    end
end
