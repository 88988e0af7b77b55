factor(x, n) = n == 0 ? one(x) : x * factor(x, n - 1)

@tessella function powers!(x::Vector{Float64})
    for i in eachindex(x)
        x[i] = factor(x[i], 3)
    end
end
