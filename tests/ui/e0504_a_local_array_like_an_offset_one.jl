#! type A=OffsetVector{Float64}
#! type y=Vector{Float64}
@tessella function differences!(y, A)
    B = A .- A[begin]
    C = similar(A)
    y[1] = sum(B)
end
