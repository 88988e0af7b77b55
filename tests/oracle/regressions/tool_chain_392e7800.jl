#! target c
#! seed 5991362769343939473
# Found: tool chain
@tessella function f!(B::Array{Float32,1}, n::Int64)
    @comp S3 B[1] = 1.0f0
    return nothing
end
