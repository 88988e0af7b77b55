#! draw
#! tiling
@tessella function scale!(x::Vector{Float64})
    for i in eachindex(x)
        @comp S x[i] = 2.0 * x[i]
    end
end
