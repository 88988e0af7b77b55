# `@simd` frees the order among all elements where one loop over a matrix becomes two. The terms are small integers, so that the
# source's order gives the same bits.
#! run A_1=0 A_2=2 s_1=1
#! run A_1=1 A_2=1 s_1=1
#! run A_1=7 A_2=5 s_1=1
@tessella function total!(s::Vector{Float64}, A::Matrix{Float64})
    s[1] = 0.0
    @simd for a in A
        @comp S s[1] += floor(a * 1000)
    end
end

@schedule total! begin
    parallel(S, j)
end
