function f!(a::Vector{Float64}, n::Int)
    for i in 2:n
        if a[i] > a[i-1]
            @comp S a[i-1] = 2.0 * i
        else
            @comp R a[i] = a[i] + 1
        end
    end
    return nothing
end
@schedule f! begin
    shift(S, i, -1)
end
