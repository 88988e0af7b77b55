#! target cuda
#! seed 12811080573396737673
# Found: the extent of an inner block loop was computed where the outer one has no iterations, and it has no value.
@tessella function f!(C::Array{Float64,2}, n::Int64, m::Int64)
    for k in 1:m
        for j in 1:m
            @comp S3 C[k, j] = Float32(k - 1)
        end
    end
    return nothing
end
