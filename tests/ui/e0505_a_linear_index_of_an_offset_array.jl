#! type A=OffsetMatrix{Float64}
#! type B=Matrix{Float64}
@tessella function copy_all!(B, A)
    for i in eachindex(A)
        B[i] = A[i]
    end
    for j in 1:size(A, 2)
        B[:, j] .= A[axes(A, 1), j]
    end
end
