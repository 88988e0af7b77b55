@tessella function positive(A::Matrix{Float64})
    mask = A .> 0
    return mask
end

@tessella turned(A::Matrix{Float64}, B::Matrix{Float64}) = (A .+ B)'

@tessella doubled(n::Int) = 2 .* (1:n)

@tessella column(A::Matrix{Float64}) = (view(A, :, 1), 1)
