# `@fastmath` allows another order; a minimum of numbers is the same in any.
#! run m=0 n=2
#! run m=1 n=1
#! run m=7 n=10
@tessella function least!(s::Vector{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for i in 1:m, j in 1:n
        @fastmath @comp S s[1] = min(s[1], A[i, j])
    end
end

@schedule least! begin
    interchange(S, i, j)
    reverse(S, j)
end
