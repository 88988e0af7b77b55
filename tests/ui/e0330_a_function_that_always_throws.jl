@tessella function scale!(x::Vector{Float64}, a::Float64)
    eltype(x) == Int64 || throw(ArgumentError("integers only"))
    for i in eachindex(x)
        x[i] *= a
    end
end
