#! target c
#! seed 1
#! sizes 6
# Found: isl error: a void point does not have coordinates.
@tessella function f!(C::Array{Float64,2}, D::Array{Float64,2}, n::Int64, m::Int64)
    for j in 1:m
        for i in j + 1:n
            @comp S1 C[i, j] = 0.0
            for k in 1:n
                if k <= i + 1
                    @comp S2 D[i, k] = D[2*k, i]
                end
            end
        end
    end
    return nothing
end

@schedule f! begin
    unroll_and_jam(S1, i, 3)
end
