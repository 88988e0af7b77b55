#! target cuda
@tessella function f!(u::Vector{Float32}, c::Float32, steps::Int)
    n = length(u)
    for t in 1:steps, i in 1:n-1
        @comp S u[i] = u[i] + c * (u[i+1] - u[i])
    end
end

@schedule f! begin
    overlapped(S, t, i, 4, 16)
end
