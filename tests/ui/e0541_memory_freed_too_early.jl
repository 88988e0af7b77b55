@tessella function f!(x::Vector{Float64}, y::Vector{Float64}, s::Int)
    n = length(x)
    a = zeros(n)
    for t in 1:s
        for i in 1:n
            @comp S a[i] = a[i] + x[i]
        end
    end
    for j in 1:n
        @comp R y[j] = a[j]
    end
end

@schedule f! begin
    free(a, t; once=true)
end
