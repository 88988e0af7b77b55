# A loop that data end stays one loop, whatever could run in parallel without it: nobody knows how often it runs.
using Tessella
@tessella function settling!(z::Vector{Float64}, x::Vector{Float64}, s::Vector{Float64}, n::Int)
    go = true
    while go
        go = false
        for i in 2:n
            s[i] = s[i-1]*0.5 + x[i]
        end
        for i in 1:n
            if abs(z[i]) > 1e-3
                go = true
            end
            z[i] *= 0.5
        end
    end
end
