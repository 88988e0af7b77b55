# The temperature of a chip over time: heat comes from its parts, spreads to neighbours and leaves through the package
using Tessella

@tessella function hotspot!(T, next, power, steps, rx, ry, rz, cap, ambient)
    m, n = size(T)
    for t in 1:steps
        for j in 1:n, i in 1:m
            here = T[i, j]
            up = i > 1 ? T[i-1, j] : here
            down = i < m ? T[i+1, j] : here
            left = j > 1 ? T[i, j-1] : here
            right = j < n ? T[i, j+1] : here
            next[i, j] = here + cap * (power[i, j] + (down + up - 2 * here) * ry + (right + left - 2 * here) * rx +
                                       (ambient - here) * rz)
        end
        for j in 1:n, i in 1:m
            T[i, j] = next[i, j]
        end
    end
end

function hotspot_inputs(::Type{T}, n, m = n + 1, steps = 4) where {T}
    temperature = T[320 + mod(i * j, 13) for i in 1:m, j in 1:n]
    power = T[mod(i + 3j, 7) / 1000 for i in 1:m, j in 1:n]
    return temperature, fill(T(NaN), m, n), power, steps, T(0.1), T(0.1), T(0.000003), T(0.5), T(80)
end
