# `@simd` frees the order in its own loop. The terms are small integers, so that the source's order gives the same bits.
#! run m=0 n=2
#! run m=1 n=1
#! run m=7 n=5
@tessella function total!(s::Vector{Float64}, A::Matrix{Float64})
    m, n = size(A)
    s[1] = 0.0
    for j in 1:n
        @simd for i in 1:m
            @comp S s[1] += floor(A[i, j] * 1000)
        end
    end
end

@schedule total! begin
    split(S, i, 4)
    reverse(S, i0)
    interchange(S, i0, i1)
end
