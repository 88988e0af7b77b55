@tessella function f!(x::Vector{Float64}, y::Vector{Float64}, s::Int)
    n = length(x)
    a = Vector{Float64}(undef, n)
    for t in 1:s
        for k in 1:n
            if t > 1
                @comp R y[k] = y[k] + a[k]
            end
        end
        for k in 1:n
            @comp S a[k] = t * x[k]
        end
    end
end

@schedule f! begin
    allocate(a, t)
end
