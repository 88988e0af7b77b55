#! target cuda
#! seed 16743772638342860267
#! sizes 11
#! effort 1
#! machine 32 16 524288 32768 32768 2048
# Found: wrong program
@tessella function f!(A::Array{Int64,1}, B::Array{Float64,1}, n::Int64, m::Int64)
    if A[1] > A[1]
        for l in 1:m
            @comp S3 s2 = 0.25
            @comp S4 s2 += B[l]
            @comp S5 B[l] = s2
        end
    end
    return nothing
end

@schedule f! begin
    distribute(S5, l)
    auto()
    cache_register(s2, S3, l11)
end
