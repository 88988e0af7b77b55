@tessella function f!(A::Vector{Float64}, B::Vector{Float64}, steps::Int)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            @comp S B[i] = A[i-1] + A[i+1]
        end
        for i in 2:n-1
            @comp R A[i] = B[i]
        end
    end
end

@schedule f! begin
    hexagonal((S, R), t, i, 2, 4)
end
