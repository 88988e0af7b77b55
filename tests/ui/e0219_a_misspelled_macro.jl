@tessella function axpy!(y, a, x)
    @inbound for i in eachindex(y)
        y[i] += a * x[i]
    end
end
