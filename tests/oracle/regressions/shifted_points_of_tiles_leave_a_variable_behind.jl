#! target c
#! seed 1
# Found: the variable lived for one iteration of the point loops, but the shifts move its last use into another one.
@tessella function f!(B::Array{Float32,2}, n::Int64)
    for i in 1:n
        for j in 1:3:i
            @comp S3 s1 = 0.5f0
            @comp S4 s1 *= abs(s1)
            @comp S5 B[j, i] += s1
        end
    end
    return nothing
end

@schedule f! begin
    tile(S5, (i, j), (4, 3))
    shift(S5, j1, 2)
    shift(S5, i1, 1)
end
