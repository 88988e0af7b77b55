@tessella function f!(A::Vector{Float64}, s::Vector{Float64}, steps::Int64)
    n = length(A)
    for t in 1:steps
        for i in 1:n
            @comp S A[i] = 0.5 * A[i]
        end
        for i in 1:n
            @comp R s[t] += A[i]
        end
    end
end

@schedule f! begin
    overlapped(S, t, i, 4, 32)
end
