# y = a x + y
using Tessella

@tessella function axpy!(y, a, x)
    for i in 1:length(y)
        y[i] = a * x[i] + y[i]
    end
    return y
end

axpy_inputs(::Type{T}, n) where {T} = (T[mod(3i, 17) / 17 for i in 1:n], T(1.5), T[mod(5i, 11) / 11 for i in 1:n])
