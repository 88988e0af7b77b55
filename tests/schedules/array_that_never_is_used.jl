# A break before an array is made: no iteration gets to it, so no thread has memory for it.
#! run n=2
#! run n=3
function f!(A::Vector{Float64}, C::Matrix{Float64})
    n = size(C, 2)
    for i in 2:n
        for j in 1:n
            (j != i + 1) && break
            if i > 2
                x = zeros(Float64, n + 2)
                @comp S1 x[j] = max(x[j], C[n-i+2, j])
                for l in 1:j
                    @comp S4 x[2*j] = x[2*j-1] + A[1]
                end
            end
        end
    end
    return nothing
end

@schedule f! begin
    parallel(S4, i)
end
