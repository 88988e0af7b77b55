#! target cuda
#! transpile
@tessella function steps!(A::Vector{Float64}, B::Vector{Float64}, out::Vector{Float64})
    for t in 1:10
        for i in 2:length(A)-1
            @comp S B[i] = A[i-1] + A[i+1]
        end
        for i in 2:length(A)-1
            A[i] = B[i]
        end
    end
    for i in eachindex(A)
        @comp O out[i] = 2 * A[i]
    end
end

@schedule steps! begin
    stream(S, t, 4)
end
