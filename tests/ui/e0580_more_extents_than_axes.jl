#! model layout 5,5,5
function blur!(B::Matrix{Float32}, A::Matrix{Float32})
    for j in 2:size(A, 2)-1, i in 2:size(A, 1)-1
        @comp S B[i, j] = A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]
    end
end
