@tessella function seidel!(A::Vector{Float64}, steps::Int)
    for t in 1:steps, i in 2:length(A)-1
        @comp S A[i] = 0.5 * (A[i-1] + A[i+1])
    end
end
