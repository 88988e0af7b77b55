# Each array has memory for as long as loops use it; the last one a new one in each iteration.
#! target c
#! sizes x=m y=m z=m,s
using Tessella

@tessella function memory_by_phases!(x::Vector{Float64}, y::Vector{Float64}, z::Matrix{Float64})
    m, s = size(z)
    a = zeros(m)
    for i in 1:m
        @comp F a[i] = 2.0 * x[i]
    end
    for i in 1:m
        @comp G y[i] = a[i] + x[i]
    end
    for t in 1:s
        row = zeros(m)
        for j in 1:m
            @comp P row[j] = y[j] * t
        end
        for j in 1:m
            @comp Q z[j, t] = row[m - j + 1]
        end
    end
    return nothing
end

@schedule memory_by_phases! begin
    free(a, G, i; once=true)
    allocate(row, t)
end

function memory_by_phases_inputs(::Type{T}, n) where {T}
    x = T[mod(5i, 7) / 3 for i in 1:n+1]
    return x, zero(x), zeros(T, n + 1, 3)
end
