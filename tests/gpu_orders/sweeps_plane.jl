# All three loops carry dependences, so threads run through planes that lean: `4t + 2j + i` is the same on each.
#! sizes A=m,n steps=steps
#! run m=2 n=2 steps=2
#! run m=3 n=3 steps=1
#! run m=9 n=40 steps=0
#! run m=23 n=37 steps=5
#! run m=70 n=11 steps=35
using Tessella

@tessella function sweeps_plane!(A::Matrix{Float64}, steps::Int)
    m, n = size(A)
    for t in 1:steps, j in 2:n-1, i in 2:m-1
        A[i, j] = (A[i-1, j-1] + A[i, j-1] + A[i+1, j-1] + A[i-1, j] + A[i, j] + A[i+1, j] +
                   A[i-1, j+1] + A[i, j+1] + A[i+1, j+1]) / 9.0
    end
end
