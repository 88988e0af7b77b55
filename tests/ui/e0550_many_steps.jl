@tessella function relax!(A::Vector{Float64}, B::Vector{Float64}, steps::Int64)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            @comp S B[i] = (A[i-1] + A[i] + A[i+1]) / 3.0
        end
        for i in 2:n-1
            @comp R A[i] = B[i]
        end
    end
end

@schedule relax! begin
    overlapped(S, t, i, 4294967295, 32)
end
