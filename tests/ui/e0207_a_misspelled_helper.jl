upwind(a, b, c) = c > 0 ? a : b

@tessella function flux!(f::Vector{Float64}, u::Vector{Float64}, c::Float64)
    for i in 2:length(u)
        f[i] = upwnid(u[i-1], u[i], c) + summ(u)
    end
end
