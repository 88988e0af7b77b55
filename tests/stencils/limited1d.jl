# Advection of second order: slopes are limited by a function with branches, and what is too large is cut off.
#! with hexagonal(S0, t, i, 3, 8)
#! with overlapped(S0, t, i, 3, 16)
#! with space(S0, t, i, 32)
#! gpu stream(S0, t, 4, 2)
#! run n=5 steps=2
#! run n=1 steps=1
#! run n=4 steps=3
#! run n=131 steps=5
#! own n=300 steps=11
function minmod(a, b)
    if a * b <= 0
        return zero(a)
    elseif abs(a) < abs(b)
        return a
    else
        return b
    end
end

@tessella function limited1d!(A::Vector{Float64}, B::Vector{Float64}, c::Float64, steps::Int)
    n = length(A)
    for t in 1:steps
        for i in 3:n-2
            here = minmod(A[i] - A[i-1], A[i+1] - A[i])
            before = minmod(A[i-1] - A[i-2], A[i] - A[i-1])
            value = A[i] - c * (A[i] + 0.5 * (1 - c) * here - A[i-1] - 0.5 * (1 - c) * before)
            if value > 0.75
                value = 0.75
            end
            B[i] = value
        end
        for i in 3:n-2
            A[i] = B[i]
        end
    end
    return nothing
end
