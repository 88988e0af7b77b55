#! target c
#! seed 838335877060997279
#! sizes 11
#! effort 1
#! machine 32 16 524288 32768 32768 2048
# Found: tool chain
@tessella function f!(n::Int64)
    for i in 1:n
        for j in 1:n
            (j != i) && break
            if i > 1
                x1 = zeros(Float64, n)
                @comp S2 s2 = 1.5
                @comp S4 x1[2*j] = s2
            end
        end
    end
    return nothing
end

@schedule f! begin
    split(S3, i, 4)
    parallel(S5, i1)
end
