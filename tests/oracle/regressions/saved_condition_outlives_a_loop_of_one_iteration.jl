#! target c
#! seed 1
# Found: the loop program made a saved condition anew for each statement of one iteration.
@tessella function f!(A::Array{Float64,1}, B::Array{Float64,2}, C::Array{Float64,1}, n::Int64)
    for i in 1:n - 1
        for j in 1:i
            @comp S1 C[n - i + 1] = C[j]
            if i <= 1
                @comp S2 C[j] *= C[i + 2]
                if 2.0 > A[i]
                    for k in 2:n
                        for l in n:-1:1
                            @comp S3 s1 = 1.75
                            @comp S4 s1 += (s1 + 2.0)
                            @comp S5 B[k, 2*l - 1] = s1 + A[l]
                        end
                    end
                end
            end
        end
    end
    return nothing
end

@schedule f! begin
    unroll(S1, j, 2)
end
