@tessella function f!(A::Vector{Float64}, B::Vector{Float64}, steps::Int)
    n = length(A)
    for t in 1:2:steps
        for i in 2:n-1
            @comp S B[i] = 0.5 * (A[i-1] + A[i+1])
        end
        for i in 2:n-1
            @comp R A[i] = 0.5 * (B[i-1] + B[i+1])
        end
    end
end

@schedule f! begin
    overlapped(S, t, i, 3, 8)
end
