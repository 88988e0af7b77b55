# A product, a difference and extremes, over ranges that are often shorter than the number of partial results.
#! run n=0
#! run n=1
#! run n=2
#! run n=9
@tessella function extremes!(B::Vector{Float64}, C::Vector{Int32}, D::Vector{UInt8}, A::Vector{Float64})
    n = length(A)
    for i in 1:n
        for j in 1:i
            @fastmath @comp least B[i] = min(B[i], A[j])
            @comp less C[i] = C[i] - (unsafe_trunc(Int32, A[j] * 100) - Int32(j))
            @comp most D[i] = max(D[i], D[j])
        end
    end
end

@schedule extremes! begin
    distribute(least, j)
    rfactor(least, j, 4)
    rfactor(less, j, 3)
end
