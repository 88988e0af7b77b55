# Sums whose order is open have partial sums in registers: of a matrix, of each plane, of what `@simd` stands before.
using Tessella

@tessella whole(A::Matrix{Float64}) = sum(A)

@tessella function planes!(m::Vector{Float64}, A::Array{Float64,3})
    for k in axes(A, 3)
        m[k] = sum(view(A, :, :, k))
    end
    return nothing
end

@tessella function simd(x::Vector{Float32})
    s = 0f0
    @simd for i in eachindex(x)
        s += x[i]
    end
    return s
end
