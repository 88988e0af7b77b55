# The place of the largest of four neighbours, an `Int` that a narrower array takes: nothing is tested, and threads share the columns.
using Tessella

@tessella function places!(place::Matrix{Int32}, x::Matrix{Float32})
    for j in axes(place, 2), i in axes(place, 1)
        best = typemin(Float32)
        at = 0
        for b in 1:2, a in 1:2
            if x[2*i+a-2, 2*j+b-2] > best
                best = x[2*i+a-2, 2*j+b-2]
                at = a + 2 * (b - 1)
            end
        end
        place[i, j] = at
    end
end
