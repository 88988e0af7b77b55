@tessella function coarsen!(c::Vector{Float64}, f::Vector{Float64})
    for i in 2:2:length(f)
        c[i/2] = (f[i-1] + f[i]) / 2
    end
end
