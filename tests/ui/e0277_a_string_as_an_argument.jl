@tessella function scaled!(A::Vector{Float64}, mode::String, f::Function, h::NTuple{3,Float64})
    for i in eachindex(A)
        A[i] *= 2
    end
end
