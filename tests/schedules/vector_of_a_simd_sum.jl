# Lanes have partial results of their own where the source leaves the order of the updates open.
#! run m=0
#! run m=1
#! run m=7
#! run m=37
@tessella function total!(s::Vector{Float64}, A::Vector{Float64})
    m = length(A)
    @simd for i in 1:m
        @comp S s[1] = max(s[1], A[i])
    end
end

@schedule total! begin
    vectorize(S, i, 4)
end
