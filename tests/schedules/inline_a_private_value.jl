# A scalar's value stands where it is read; conversions to its type stay.
#! run n=0
#! run n=1
#! run n=9
@tessella function weigh!(B::Vector{Float32}, A::Vector{Float32})
    n = length(A)
    for i in 1:n
        @comp S w::Float32 = A[i] * 0.1
        @comp R B[i] = w * w + i
    end
end

@schedule weigh! begin
    inline(S)
    vectorize(R, i, 8)
end
