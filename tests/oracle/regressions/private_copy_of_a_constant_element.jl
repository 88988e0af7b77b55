#! target c
#! seed 1
#! sizes 6
# Found: isl error: an affine expression involves some of the domain dimensions.
@tessella function f!(C::Array{Float64,1}, A::Array{Float64,2}, n::Int64, m::Int64)
    for j in 1:m
        for l in 1:j
            @comp S2 C[1] += A[1, 1]
            @comp S3 C[1] = A[j, 1]
        end
    end
    return nothing
end

@schedule f! begin
    privatize(C, S3, l)
end
