const TABLE = [1.0, 2.0, 4.0]

@tessella function remember!(x::Vector{Float64})
    for i in eachindex(x)
        x[i] += TABLE[2]
        TABLE[1] = x[i]
    end
end
