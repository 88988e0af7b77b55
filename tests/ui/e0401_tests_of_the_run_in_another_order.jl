function f!(h::Vector{Float64}, idx::Vector{Int64}, n::Int)
    for i in 1:n
        @comp R idx[i] = mod(3 * i, 7) + idx[i]
        @comp S h[idx[i]] = 2.0 * i
    end
    return nothing
end
@schedule f! begin
    reverse(R, i)
end
