#! target c
#! seed 11704835836023443065
#! sizes 11
#! machine 32 16 524288 32768
# Found: isl error
@tessella function f!(n::Int64, m::Int64)
    @comp S1 s1 = 2
    for i in 1:m - 2
        @comp S2 s1 = 1
    end
    return nothing
end

@schedule f! begin
    assume(m <= 2)
    before(S2, S1)
end
