@tessella function gain!(y::Vector{Float32}, x::Vector{Float32})
    for i in eachindex(x)
        factor = x[i] > 0 ? x[i] : 0.0
        y[i] = factor * x[i]
    end
end

#: title A literal of the wrong width
#: why `0.0` is a `Float64` and `x[i]` a `Float32`, so the type of the result depends on the data.
#: fix Write `0.0f0` or `zero(x[i])`.
