# The same where dependences reach two points one way and two the other way in half as many steps.
#! sizes A=steps,n
#! run steps=2 n=4
#! run steps=3 n=5
#! run steps=90 n=130
#! run steps=41 n=211
using Tessella

@tessella function levels_leaning!(A::Matrix{Float64})
    steps, n = size(A)
    for t in 3:steps, i in 3:n-2
        A[t, i] = 0.5 * (A[t-2, i-2] + A[t-1, i+2])
    end
end
