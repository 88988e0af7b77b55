@tessella function signs!(A::Vector{Float64})
    for i in eachindex(A)
        if A[i] > 0
            A[i] = 1
        else if A[i] < 0
            A[i] = -1
        end
    end
end
