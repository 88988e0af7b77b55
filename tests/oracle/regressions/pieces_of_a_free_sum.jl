#! target c
#! seed 77
# Found: a loop that was reversed while the order of the sum was free, and cut into pieces then.
@tessella function f!(C::Array{Int64,1}, n::Int64)
    for i in 1:n
        @comp S1 s1 = 4
        for j in n:-1:1
            @comp S2 s1 += C[i]
        end
    end
    return nothing
end

@schedule f! begin
    reverse(S2, j)
    pieces(S2, j, i)
end
