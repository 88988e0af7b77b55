#! type alhpa=Float32
@tessella function scaled!(A::Vector{Float32}, alpha)
    for i in 1:length(A)
        A[i] *= alpha
    end
end
