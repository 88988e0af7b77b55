# Roots by iterations that data end, beside subscripts that are tested on the way: what a failed test leaves behind may never end, so these loops ask for
# that, too.
#! sizes y=n cell=n z=n x=n
#! run n=1
#! run n=0
#! run n=300
using Tessella

@tessella function roots_beside!(y::Vector{Float64}, cell::Vector{Int}, z::Vector{Float64}, x::Vector{Float64})
    for i in eachindex(x)
        cell[i] = mod(unsafe_trunc(Int, x[i]), length(z)) + 1
        y[i] = z[cell[i]]
    end
    for i in eachindex(x)
        v = x[i]
        while abs(v * v - 2.0) > 1.0e-6 && v != 0
            v = (v + 2.0 / v) / 2
        end
        x[i] = v
    end
end
