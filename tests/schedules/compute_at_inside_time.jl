# The differences are computed anew in each tile of each time step, before the array that they are made of changes.
#! run n=0 steps=2
#! run n=3 steps=3
#! run n=17 steps=4
@tessella function diffuse!(A::Vector{Float64}, steps::Int64)
    n = length(A)
    F = similar(A)
    B = similar(A)
    for t in 1:steps
        for i in 1:n-1
            @comp R F[i] = A[i+1] - A[i]
        end
        for i in 2:n-1
            @comp S B[i] = A[i] + 0.25 * (F[i] - F[i-1])
        end
        for i in 2:n-1
            @comp Q A[i] = B[i]
        end
    end
end

@schedule diffuse! begin
    split(S, i, 5)
    compute_at(R, S, i0)
    parallel(S, i0)
end
