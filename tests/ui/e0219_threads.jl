@tessella function scaled!(y::Vector{Float64}, a::Float64)
    Threads.@threads for i in eachindex(y)
        y[i] > a && break
        y[i] *= a
    end
    @turbo for i in eachindex(y)
        y[i] += 1
    end
end
