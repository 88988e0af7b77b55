@tessella function clipped!(A::Vector{Float64})
    for i in eachindex(A)
        if A[i] > 0 and A[i] < 1
            A[i] = 0
        end
    end
end
