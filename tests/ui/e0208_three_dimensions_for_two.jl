#! type A=Array{Float64,3}
#! type v=Matrix{Float64}
#! type B=Vector{Float32}
@tessella function traces!(v::AbstractVector, A::Matrix{Float64}, B::Array{Float32,2})
    v[1] = A[1, 1] + B[1, 1]
end
