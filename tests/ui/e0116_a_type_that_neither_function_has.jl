#! type x=Float32
@tessella function scaled!(A::Vector{Float32}, alpha)
    for i in 1:length(A)
        A[i] *= alpha
    end
end

@tessella function ones!(B::Vector{Float32})
    for i in 1:length(B)
        B[i] = 1
    end
end
