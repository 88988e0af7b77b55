@tessella function f!(A::Vector{Float64}, B::Vector{Float64})
    for i in 2:length(A)-1
        @comp R B[i] = 0.5 * A[i-1]
    end
    for i in 2:length(A)-1
        @comp S A[i] = B[i]
    end
end

@schedule f! begin
    fuse(R, S, i)
end
