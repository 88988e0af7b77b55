# A step into one array and back, as PolyBench writes it: only `A` goes from block to block.
#! run n=0 tsteps=3
#! run n=3 tsteps=5
#! run n=5 tsteps=0
#! run n=24 tsteps=6
#! run n=61 tsteps=11
@tessella function jacobi_1d!(A::Vector{Float64}, B::Vector{Float64}, tsteps::Int64)
    n = length(A)
    for t in 1:tsteps
        for i in 2:n-1
            @comp S B[i] = 0.33333 * (A[i-1] + A[i] + A[i+1])
        end
        for i in 2:n-1
            @comp R A[i] = B[i]
        end
    end
end

@schedule jacobi_1d! begin
    overlapped(S, t, i, 3, 8)
end
