#! target c
#! seed 12430723176249074449
# Found: tool chain
@tessella function f!(A::Array{Int64,1}, C::Array{Int64,2}, n::Int64)
    @comp S1 C[1, 1] = A[1]
    return nothing
end

@schedule f! begin
end
