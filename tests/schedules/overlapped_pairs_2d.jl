# Two half steps, each of which reads what the other wrote: jacobi-2d of PolyBench.
#! run n=3 tsteps=4
#! run n=17 tsteps=5
@tessella function jacobi_2d!(A::Matrix{Float64}, B::Matrix{Float64}, tsteps::Int64)
    n = size(A, 1)
    for t in 1:tsteps
        for i in 2:n-1, j in 2:n-1
            @comp S B[j, i] = 0.2 * (A[j, i] + A[j-1, i] + A[j+1, i] + A[j, i+1] + A[j, i-1])
        end
        for i in 2:n-1, j in 2:n-1
            @comp R A[j, i] = 0.2 * (B[j, i] + B[j-1, i] + B[j+1, i] + B[j, i+1] + B[j, i-1])
        end
    end
end

@schedule jacobi_2d! begin
    overlapped(S, t, (i, j), 2, (5, 7))
end
