@tessella function f!(A::Vector{Float64}, B::Vector{Float64}, steps::Int)
    n = length(A)
    for t in 1:steps
        for i in 1+t:n-t
            @comp S B[i] = 0.5 * (A[i-1] + A[i+1])
        end
        for i in 1+t:n-t
            @comp R A[i] = B[i]
        end
    end
end

@schedule f! begin
    overlapped(S, t, i, 3, 8)
end
