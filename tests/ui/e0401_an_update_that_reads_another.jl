# A sum of integers that also reads another element of its array waits for that one.
@tessella function prefix!(x::Vector{Int64}, y::Vector{Int64}, n::Int)
    for i in 2:n
        @comp S x[i] += x[i-1]
        for k in 1:n
            @comp R x[i] += y[k]
        end
    end
end

@schedule prefix! begin
    reverse(S, i)
end
