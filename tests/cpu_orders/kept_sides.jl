# Which side each point reads is up to data, and labels keep two statements: the condition is kept in a register, not for all steps.
using Tessella

@tessella function kept_sides!(u::Vector{Float64}, un::Vector{Float64}, a::Vector{Float64}, steps::Int)
    n = length(u)
    for t in 1:steps
        un .= u
        for i in 2:n-1
            if a[i] > 0
                @comp S u[i] = un[i] - a[i] * (un[i] - un[i-1])
            elseif a[i] < -1
                @comp R u[i] = un[i] - a[i] * (un[i+1] - un[i])
            end
        end
    end
end
