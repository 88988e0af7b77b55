# Callers see `T`, so its own loops stay; two statements read it, at a distance on both sides.
#! run n=0
#! run n=1
#! run n=5
#! run n=23
@tessella function chain!(B::Vector{Float64}, T::Vector{Float64}, A::Vector{Float64})
    n = length(A)
    for i in 1:n
        @comp R T[i] = 2.0 * A[i] + 1.0
    end
    for i in 3:n-4
        @comp S B[i] = T[i-2] * T[i+4]
        @comp Q B[i] = B[i] + T[i]
    end
end

@schedule chain! begin
    split(S, i, 6)
    compute_at(R, S, i0)
    parallel(S, i0)
end
