# Forces between neighbours of a list: the lanes of a warp read the lists together, and what lies at the neighbours.
#! target cuda
#! sizes f=n x=n first=n list=m
using Tessella

@tessella function rows_of_lanes!(f::Vector{Float64}, x::Vector{Float64}, first::Vector{Int}, list::Vector{Int})
    for i in 1:length(f)-1
        @comp F sum = 0.0
        for k in max(first[i], 1):min(first[i+1] - 1, length(list))
            if list[k] != i
                @comp S sum = sum + min(0.5, x[mod1(list[k], length(x))] - x[i])
            end
        end
        @comp L f[i] = sum
    end
    return nothing
end

@schedule rows_of_lanes! begin
    split(F, i, 128)
    gpu(F, i0, i1)
    share_rows(S, k)
end

rows_of_lanes_inputs(::Type{T}, n) where {T} = zeros(T, n), T[sin(3i) for i in 1:n], [1 + 7(i - 1) for i in 1:n],
    [mod(5i + 2, n) + 1 for i in 1:7n]
