@tessella function periodic!(u::Vector{Float64})
    n = length(u)
    u[0] = u[n-1]
    u[n] = u[1]
end

#: title A habit from C
#: why Julia counts from 1: `u[0]` is outside for every length of `u`.
#: fix The ghost cells of this vector are `u[1]` and `u[n]`: write `u[1] = u[n-1]` and `u[n] = u[2]`.
