# The inner product of two vectors; `@simd` leaves the order of the sum open
using Tessella

@tessella function dot(x, y)
    sum = zero(x[1])
    @simd for i in 1:length(x)
        sum += x[i] * y[i]
    end
    return sum
end

dot_inputs(::Type{T}, n) where {T} = (T[1 + mod(3i, 17) for i in 1:n], T[1 + mod(5i, 11) for i in 1:n])
