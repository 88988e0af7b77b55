@tessella function masked!(A::Matrix{Float64}, mask::Matrix{Int})
    for j in axes(A, 2), i in axes(A, 1)
        if mask[i, j]
            A[i, j] = 0
        end
    end
end
