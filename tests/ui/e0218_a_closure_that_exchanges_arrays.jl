@tessella function ordered!(A::Vector{Float64}, B::Vector{Float64})
    function order()
        if A[1] > B[1]
            A, B = B, A
        end
        return nothing
    end
    order()
    A[1] += 5
    return nothing
end
