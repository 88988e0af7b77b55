@tessella function moved!(A::Vector{Float64}, n::Int, k::Int)
    for i in 1:n
        @comp S A[i] = A[i + k]
    end
end
