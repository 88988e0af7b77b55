#! target cuda
@tessella function sums!(s::Vector{Float64}, A::Array{Float64,3})
    for i in axes(A, 3)
        for k in axes(A, 2)
            for j in axes(A, 1)
                @comp S s[i] += A[j, k, i]
            end
        end
    end
end

@schedule sums! begin
    split(S, i, 64)
    gpu(S, i0, i1)
    share_rows(S, k)
end
