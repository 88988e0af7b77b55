# The loop goes into each loop of the body, and around the statements beside them.
#! run m=0 n=0
#! run m=1 n=1
#! run m=5 n=7
@tessella function rows!(A::Matrix{Float32}, s::Vector{Float32})
    m, n = size(A)
    for i in 1:m
        @comp Z s[i] = 0f0
        for j in 1:n
            @comp S s[i] += A[i, j]
        end
        for j in 1:n
            @comp T A[i, j] = s[i] - A[i, j]
        end
    end
end

@schedule rows! begin
    unroll_and_jam(S, i, 3)
end
