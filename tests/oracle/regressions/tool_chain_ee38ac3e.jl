#! target c
#! seed 1658517674209765811
# Found: tool chain
@tessella function f!(B::Array{Float64,2}, n::Int64, m::Int64)
    @comp S1 B[1, 1] = B[1, 1]
    return nothing
end

@schedule f! begin
end
