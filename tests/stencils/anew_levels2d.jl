# A wave in a plane whose new level is a new array: the names of the levels take turns with two arrays.
#! with overlapped(N, t, (j, i), 2, (8, 8))
#! gpu stream(N, t, 2, 2, 16)
#! gpu stream(N, t, 3, 4)
#! run m=13 n=17 steps=5
#! run m=6 n=9 steps=1
#! run m=9 n=6 steps=2
#! own m=133 n=217 steps=37
@tessella function anew_levels2d!(A::Matrix{Float32}, c::Float32, steps::Int)
    m, n = size(A)
    now, before = copy(A), copy(A)
    for t in 1:steps
        @comp N next = 2 .* now .- before
        for j in 2:n-1, i in 2:m-1
            @comp S next[i, j] += c * (now[i-1, j] + now[i+1, j] + now[i, j-1] + now[i, j+1] - 4 * now[i, j])
        end
        before = now
        now = next
    end
    A .= now
    return nothing
end
