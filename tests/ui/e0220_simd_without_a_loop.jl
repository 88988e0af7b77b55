@tessella function axpy!(y, a, x)
    for i in eachindex(y)
        @simd y[i] += a * x[i]
    end
end
