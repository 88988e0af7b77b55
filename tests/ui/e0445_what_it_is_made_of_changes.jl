@tessella function step!(A::Vector{Float64}, steps::Int64)
    n = length(A)
    F = similar(A)
    for t in 1:steps
        for i in 1:n-1
            @comp R F[i] = A[i+1] - A[i]
        end
        for i in 2:n-1
            @comp S A[i] = A[i] + 0.25 * (F[i] - F[i-1])
        end
    end
end

@schedule step! begin
    split(S, i, 8)
    compute_at(R, S, i0)
end
