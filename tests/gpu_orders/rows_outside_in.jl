# Rows before columns, of a matrix with cells around it that is kept in a vector: threads lie along memory all the same.
using Tessella

@tessella function rows_outside_in!(y::Vector{Float32}, x::Vector{Float32}, n::Int, m::Int)
    for i in 1:n
        for j in 1:m
            y[j*(n+2)+i+1] = 2f0 * x[j*(n+2)+i+1] + x[(j-1)*(n+2)+i+1]
        end
    end
end
#! sizes y=k x=k n=n m=m
#! run k=0 n=0 m=3
#! run k=9 n=1 m=1
#! run k=80 n=6 m=7
