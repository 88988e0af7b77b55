# Time loops that stream although several nests write an array, or arrays change places: each under Tessella's own schedule and under streams
# of other sizes.
module Edges

using Tessella

@tessella function two_levels!(A, B, steps)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.2f0 * (A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        A, B = B, A
    end
end

@tessella function three_levels!(P, A, N, steps)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S N[i, j] = 2f0 * A[i, j] - P[i, j] + 0.1f0 * (A[i+1, j] + A[i-1, j] + A[i, j+1] + A[i, j-1] - 4f0 * A[i, j]) + 0.01f0 * t
        end
        P, A, N = A, N, P
    end
end

@tessella function mirrored!(A, B, steps)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.2f0 * (A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1
            B[1, j] = B[2, j]
        end
        for j in 2:n-1
            B[m, j] = 0.5f0 * (B[m-1, j] + B[m-2, j])
        end
        for i in 1:m
            B[i, 1] = B[i, 2]
        end
        for i in 1:m
            B[i, n] = B[i, n-1] - 0.5f0 * B[i, n-2]
        end
        for j in 1:n, i in 1:m
            A[i, j] = B[i, j]
        end
    end
end

@tessella function edges_first!(A, B, steps)
    m, n = size(A)
    for t in 1:steps
        for j in 1:n
            B[1, j] = A[2, j] + 0.5f0 * t
        end
        for i in 1:m
            B[i, n] = A[i, n-1]
        end
        for i in 2:m-1
            B[i, 1] = 0.5f0 * A[i, 2]
        end
        for j in 2:n-1, i in 2:m
            @comp S B[i, j] = 0.25f0 * (A[i-1, j] + A[i, j-1] + A[i, j+1]) - 0.1f0 * A[i, j]
        end
        for j in 1:n, i in 1:m
            A[i, j] = B[i, j]
        end
    end
end

@tessella function lines_and_a_point!(A, B, steps)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.25f0 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for i in 2:m-1
            B[i, n ÷ 2] = B[i, n ÷ 2] + 0.25f0 * i
        end
        for j in 2:n-1
            B[m ÷ 2, j] = A[m ÷ 2, j] - 1f0
        end
        B[3, 4] = B[3, 4] + 0.5f0 * t
        for j in 2:n-1, i in 2:m-1
            A[i, j] = B[i, j]
        end
    end
end

@tessella function between!(A, B, C, steps)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.2f0 * (A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            C[i, j] = B[i, j-1] + B[i+1, j] - B[i, j+1]
        end
        for i in 2:m-1
            B[i, 3] = C[i, 4] + B[i, 2]
        end
        for j in 2:n-1, i in 2:m-1
            A[i, j] = 0.5f0 * C[i, j] - 0.2f0 * (B[i, j] + B[i-1, j] + B[i+1, j] + B[i, j-1] + B[i, j+1])
        end
    end
end

@tessella function deep_edges!(A, B, steps)
    l, m, n = size(A)
    for t in 1:steps
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp S B[i, j, k] = 0.4f0 * A[i, j, k] + 0.1f0 * (A[i-1, j, k] + A[i+1, j, k] + A[i, j-1, k] + A[i, j+1, k] + A[i, j, k-1] + A[i, j, k+1])
        end
        for k in 2:n-1, j in 2:m-1
            B[1, j, k] = B[2, j, k]
        end
        for k in 2:n-1, i in 2:l-1
            B[i, m, k] = A[i, m-1, k] + 0.01f0 * t
        end
        for j in 2:m-1, i in 2:l-1
            B[i, j, 1] = B[i, j, 2]
        end
        B[l ÷ 2, m ÷ 2, n ÷ 2] += 1f0
        A, B = B, A
    end
end

@tessella function shared_number!(U, V, U2, V2, steps)
    m, n = size(U)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            r = U[i, j] * V[i, j]
            @comp S U2[i, j] = 0.25f0 * (U[i-1, j] + U[i+1, j] + U[i, j-1] + U[i, j+1]) - r
            V2[i, j] = 0.25f0 * (V[i-1, j] + V[i+1, j] + V[i, j-1] + V[i, j+1]) + r
        end
        U, U2 = U2, U
        V, V2 = V2, V
    end
end

# Steps enough for several launches at all sizes, an odd number at some.
planes(count) = (T, n) -> (ntuple(_ -> rand(T, n, n + 1), count)..., n < 300 ? 5 + n % 3 : 38 + n % 3)
spaces(T, n) = (rand(T, n ÷ 4 + 7, n ÷ 5 + 8, n ÷ 6 + 9), rand(T, n ÷ 4 + 7, n ÷ 5 + 8, n ÷ 6 + 9), 5 + n % 3)

const SIZES = [5, 17, 67, 300, 517, 1101]
const PLANES = ["stream(S, t, 1, 2, 8)", "stream(S, t, 3, 4, 40)", "stream(S, t, 4, 2)"]
const SPACES = ["stream(S, t, 1, 2, 5, 4, 4)", "stream(S, t, 2, 2, 0, 4)"]

"Name, function, arguments of a type and size, schedules."
const ALL = [("two_levels", two_levels!, planes(2), PLANES), ("three_levels", three_levels!, planes(3), PLANES),
             ("mirrored", mirrored!, planes(2), PLANES), ("edges_first", edges_first!, planes(2), PLANES),
             ("lines_and_a_point", lines_and_a_point!, planes(2), PLANES), ("between", between!, planes(3), PLANES),
             ("deep_edges", deep_edges!, spaces, SPACES), ("shared_number", shared_number!, planes(4), String[])]

end
