# A value that is one of two loads: of an array that the loop has stored into, and of one that it only reads. The CUDA compiler would make one load of
# the two, and send it through the cache for data that nothing changes, if `x` were `__restrict__`.
#! target cuda
#! sizes r=n t=n x=n y=n
using Tessella

@tessella function chosen_loads!(r::Vector{Float64}, t::Vector{Float64}, x::Vector{Float64}, y::Vector{Float64})
    for i in eachindex(x)
        @comp T t[i] = 2.0 * y[i]
        @comp R r[i] = (isodd(i) ? t[i] : x[i]) + 1.0
    end
end

@schedule chosen_loads! begin
    split(T, i, 256)
    gpu(T, i0, i1)
end

chosen_loads_inputs(::Type{T}, n) where {T} = zeros(T, n), zeros(T, n), T[sin(3i) for i in 1:n], T[cos(5i) for i in 1:n]
