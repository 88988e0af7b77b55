@tessella function cleared!(A::Vector{Float64}):
    for i in eachindex(A)
        A[i] = 0
    end
end
