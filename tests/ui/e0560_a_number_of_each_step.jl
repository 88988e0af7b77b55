@tessella function f!(A::Vector{Float64}, B::Vector{Float64}, a::Float64, steps::Int)
    n = length(A)
    for t in 1:steps
        @comp P amp = a * t
        for i in 2:n-1
            @comp S B[i] = A[i-1] + A[i+1] + amp
        end
        for i in 2:n-1
            @comp R A[i] = B[i]
        end
    end
end

@schedule f! begin
    hexagonal((S, R), t, i, 3, 4)
end
