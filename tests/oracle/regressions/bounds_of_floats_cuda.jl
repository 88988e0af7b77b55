#! target cuda
#! seed 3
#! sizes 6
# Loops as long as floats say, and an array with as many elements.
@tessella function f!(A::Array{Float64,1}, x::Float64, y::Float32)
    n = round(Int, 3x)
    r = ceil(Int, 2y + 1)
    w = zeros(max(n, 0) + 1)
    for k in 0:n
        @comp S0 w[k + 1] = k * x
    end
    for t in 1:r, k in 0:n
        @comp S1 A[k + 1] += w[k + 1] + t
    end
    return nothing
end

@schedule f! begin
    gpu(S1, k)
end
