@tessella function f!(A::Vector{Float64}, steps::Int)
    for t in 1:steps
        for i in 2:length(A)-1
            @comp S A[i] = A[i-1] + A[i+1]
        end
    end
end

@schedule f! begin
    hexagonal(S, t, i, 3, 4)
end
