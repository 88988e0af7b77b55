# A minimum, a difference, a maximum and a product, over ranges that are often shorter than the number of partial results.
#! run n=0
#! run n=1
#! run n=2
#! run n=9
@tessella function extremes!(B::Vector{Float64}, C::Vector{Int32}, D::Vector{Int8}, P::Vector{UInt16}, A::Vector{Float64})
    n = length(A)
    for i in 1:n
        for j in 1:i
            @fastmath @comp least B[i] = min(B[i], A[j])
            @comp less C[i] = C[i] - (unsafe_trunc(Int32, A[j] * 100) + j % Int32)
            @comp most D[i] = max(D[i], (7 * j - 60) % Int8)
            @comp times P[i] = P[i] * ((2 * j + 1) % UInt16)
        end
    end
end

@schedule extremes! begin
    distribute(least, j)
    rfactor(least, j, 4)
    rfactor(less, j, 3)
    rfactor(most, j, 5)
    rfactor(times, j, 2)
end
