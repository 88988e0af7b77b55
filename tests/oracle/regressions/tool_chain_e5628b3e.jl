#! target c
#! seed 13829147368777214372
# Found: tool chain
@tessella function f!(n::Int64, m::Int64)
    x1 = zeros(Float32, n)
    return nothing
end

@schedule f! begin
end
