@tessella function grid!(x::Vector{Float64}, dx::Float64)
    x .= dx .* (0:length(x)-1)
    return nothing
end

@tessella function angles!(A::Matrix{Float64}, n::Int)
    A[end, :] .= 2π .* (1:size(A, 2)) ./ n
    return nothing
end

@tessella mean_of(n::Int) = sum((1:n) ./ n)

@tessella function named!(x::Vector{Float64})
    r = 2 .* (1:length(x))
    x .+= 0.7 .+ r
    x .-= (+).(r, 0.1)
    x .-= 3 .\ eachindex(x)
    return nothing
end
