# A sweep in place over a line: tiles of the leaning axes, along whose diagonals blocks and threads run.
#! sizes A=n steps=steps
#! run n=2 steps=3
#! run n=3 steps=1
#! run n=40 steps=0
#! run n=200 steps=71
#! run n=33 steps=130
using Tessella

@tessella function sweeps_line!(A::Vector{Float64}, steps::Int)
    n = length(A)
    for t in 1:steps, i in 2:n-1
        A[i] = 0.25 * (A[i-1] + 2.0 * A[i] + A[i+1])
    end
end
