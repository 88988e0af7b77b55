@tessella function phases!(C::Vector{ComplexF64}, x::Vector{Float64})
    for i in eachindex(x)
        C[i] = exp(im * x[i])
    end
end
