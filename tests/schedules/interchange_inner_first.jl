# The loops may be named in either order.
#! run m=0 n=2
#! run m=1 n=1
#! run m=5 n=7
@tessella function add!(A::Matrix{Float64}, b::Vector{Float64})
    m, n = size(A)
    for i in 1:m, j in 1:n
        @comp S A[i, j] += b[i]
    end
end

@schedule add! begin
    interchange(S, j, i)
end
