# The row and the column of the steepest place of a picture, among those that a mask lets through.
using Tessella

@tessella function best_of_matrix(A::Matrix{Float32}, mask::Matrix{Int32})
    best, row, column = 0.0f0, 0, 0
    for j in 2:size(A, 2), i in axes(A, 1)
        if mask[i, j] > 0 && abs(A[i, j] - A[i, j-1]) > best
            best = abs(A[i, j] - A[i, j-1])
            row, column = i, j
        end
    end
    return best, row, column
end
#! sizes A=m,n mask=m,n
#! run m=3 n=1
#! run m=40 n=70
#! run m=300 n=9
