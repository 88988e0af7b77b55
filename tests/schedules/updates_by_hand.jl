# Sums of integers by two statements change places, and loops over the parts of a sum run backwards.
#! run n=0 m=1
#! run n=1 m=3
#! run n=9 m=5
function gather!(A::Matrix{Int32}, x::Vector{Int32}, y::Vector{Int32}, n::Int, m::Int)
    for i in 1:n
        @comp S0 y[i] -= x[i]
        for k in 1:m
            @comp S1 y[i] += A[i, k]
        end
        @comp S2 x[i] = y[i]
    end
end

@schedule gather! begin
    for k = k
        for i = i
            S1
        end
    end
    for i = -i
        S0
        S2
    end
end
