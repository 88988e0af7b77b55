@tessella function warm_up!(A::Matrix{Float64}, steps::Int)
    m, n = size(A)
    half = n ÷ 2
    return nothing
end
