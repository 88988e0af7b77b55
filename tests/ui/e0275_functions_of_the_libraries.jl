@tessella function normalized!(A::Vector{Float64}, noise::Float64)
    for i in eachindex(A)
        A[i] += noise * rand()
    end
    A ./= norm(A)
    push!(A, 1.0)
    B = reshape(A, 2, :)
    k = argmax(A)
    A[1] = det(B) + k
end
