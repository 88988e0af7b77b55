@tessella function seidel!(A::Vector{Float64}, steps::Int64)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            @comp S A[i] = (A[i-1] + A[i] + A[i+1]) / 3.0
        end
    end
end

@schedule seidel! begin
    overlapped(S, t, i, 4, 32)
end
