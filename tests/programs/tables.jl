"""
Dynamic programs, transforms and solvers as in course notes: subsequences, knapsacks, edit distances, FFT stages, Crank-Nicolson, multigrid pieces, splines, automata.
"""
module Tables

using Tessella
using ..Programs: program, values_of, positive_of, integers_of

"Longest common subsequence: the table and its last entry."
@tessella function lcs(a::Vector{Int}, b::Vector{Int})
    m, n = length(a), length(b)
    L = zeros(Int, m + 1, n + 1)
    for i in 1:m, j in 1:n
        L[i+1, j+1] = a[i] == b[j] ? L[i, j] + 1 : max(L[i+1, j], L[i, j+1])
    end
    return L[end, end]
end

"Zero-one knapsack with a row for each item."
@tessella function knapsack_table(weights, profits, capacity::Int)
    n = length(weights)
    best = zeros(Int, n + 1, capacity + 1)
    for i in 1:n
        w, p = weights[i], profits[i]
        for c in 0:capacity
            best[i+1, c+1] = best[i, c+1]
            if w <= c
                best[i+1, c+1] = max(best[i+1, c+1], best[i, c-w+1] + p)
            end
        end
    end
    return maximum(best[n+1, :])
end

"Edit distance with two rows."
@tessella function levenshtein(s, t)
    m, n = length(s), length(t)
    prev = collect(0:n)
    cur = zeros(Int, n + 1)
    for i in 1:m
        cur[1] = i
        for j in 1:n
            cost = s[i] == t[j] ? 0 : 1
            cur[j+1] = min(prev[j+1] + 1, cur[j] + 1, prev[j] + cost)
        end
        prev, cur = cur, prev
    end
    return prev[n+1]
end

"Optimal cuts of a rod."
@tessella function rod_cutting(prices)
    n = length(prices)
    r = zeros(eltype(prices), n + 1)
    for j in 1:n
        q = typemin(eltype(prices))
        for i in 1:j
            q = max(q, prices[i] + r[j-i+1])
        end
        r[j+1] = q
    end
    r[n+1]
end

"Sixteen points, radix 2, decimation in frequency; stages with constant strides; bit-reversed output."
@tessella function fft16!(x::Vector{ComplexF64}, w::Vector{ComplexF64})
    n = 16
    for (m, stride) in ((8, 1), (4, 2), (2, 4), (1, 8))
        for k in 0:2m:n-1
            for j in 0:m-1
                a = x[k+j+1]
                b = x[k+j+m+1]
                x[k+j+1] = a + b
                x[k+j+m+1] = (a - b) * w[j*stride+1]
            end
        end
    end
    return x
end

"The sum of the definition, with complex exponentials of the library."
@tessella function dft(x::Vector{ComplexF64})
    N = length(x)
    X = zeros(ComplexF64, N)
    for k in 1:N
        for n in 1:N
            X[k] += x[n] * cis(-2π * (k - 1) * (n - 1) / N)
        end
    end
    return X
end

"Crank and Nicolson for heat in a rod: Thomas's elimination in each step."
@tessella function crank_nicolson!(u, r, steps)
    n = length(u)
    c = zeros(n)
    d = zeros(n)
    for _ in 1:steps
        for i in 2:n-1
            d[i] = r / 2 * u[i-1] + (1 - r) * u[i] + r / 2 * u[i+1]
        end
        d[1] = u[1]
        d[n] = u[n]
        c[1] = 0.0
        for i in 2:n-1
            denom = 1 + r - (-r / 2) * c[i-1]
            c[i] = (-r / 2) / denom
            d[i] = (d[i] - (-r / 2) * d[i-1]) / denom
        end
        u[n] = d[n]
        for i in n-1:-1:1
            u[i] = d[i] - c[i] * u[i+1]
        end
    end
    return u
end

"Full weighting to half as many points."
@tessella function restrict2d(r::Matrix{T}) where {T}
    n = size(r, 1) ÷ 2 + 1
    m = size(r, 2) ÷ 2 + 1
    c = zeros(T, n, m)
    for J in 2:m-1, I in 2:n-1
        i, j = 2I - 1, 2J - 1
        c[I, J] = r[i, j] / 4 + (r[i-1, j] + r[i+1, j] + r[i, j-1] + r[i, j+1]) / 8 +
                  (r[i-1, j-1] + r[i+1, j-1] + r[i-1, j+1] + r[i+1, j+1]) / 16
    end
    return c
end

"Bilinear prolongation, odd and even points by cases."
@tessella function prolong2d!(fine, coarse)
    for j in axes(fine, 2), i in axes(fine, 1)
        I, J = (i + 1) ÷ 2, (j + 1) ÷ 2
        if isodd(i) && isodd(j)
            fine[i, j] += coarse[I, J]
        elseif isodd(j)
            fine[i, j] += (coarse[I, J] + coarse[I+1, J]) / 2
        elseif isodd(i)
            fine[i, j] += (coarse[I, J] + coarse[I, J+1]) / 2
        else
            fine[i, j] += (coarse[I, J] + coarse[I+1, J] + coarse[I, J+1] + coarse[I+1, J+1]) / 4
        end
    end
end

"Row sums, column means and their extremes."
@tessella function summary_of(A)
    rows = sum(A, dims = 2)
    cols = sum(A; dims = 1) ./ size(A, 1)
    lo, hi = extrema(A)
    return rows, cols, hi - lo, count(x -> x > 0, A)
end

"Second derivatives of a natural cubic spline through unequally spaced points."
@tessella function spline_coefficients(x, y)
    n = length(x)
    h = diff(x)
    u = zeros(n)
    z = zeros(n)
    for i in 2:n-1
        g = 2 * (x[i+1] - x[i-1]) - h[i-1] * u[i-1]
        u[i] = h[i] / g
        z[i] = (6 * ((y[i+1] - y[i]) / h[i] - (y[i] - y[i-1]) / h[i-1]) - h[i-1] * z[i-1]) / g
    end
    M = zeros(n)
    for i in n-1:-1:2
        M[i] = z[i] - u[i] * M[i+1]
    end
    return M
end

"Conway's rules on a torus, neighbours counted by a generator."
@tessella function conway!(next, grid::Matrix{Bool})
    m, n = size(grid)
    for j in 1:n, i in 1:m
        alive = count(grid[mod1(i + di, m), mod1(j + dj, n)] for di in -1:1, dj in -1:1 if (di, dj) != (0, 0))
        next[i, j] = alive == 3 || (grid[i, j] && alive == 2)
    end
    return next
end

"Grains that topple where four lie."
@tessella function sandpile!(z::Matrix{Int}, sweeps)
    m, n = size(z)
    t = zeros(Int, m, n)
    for _ in 1:sweeps
        t .= z .÷ 4
        @. z -= 4t
        for j in 1:n, i in 1:m
            i > 1 && (z[i, j] += t[i-1, j])
            i < m && (z[i, j] += t[i+1, j])
            j > 1 && (z[i, j] += t[i, j-1])
            j < n && (z[i, j] += t[i, j+1])
        end
    end
    return any(>=(4), z)
end

"Mandelbrot's set: how long each point stays."
@tessella function mandelbrot!(counts, xs, ys, limit)
    for (j, y) in enumerate(ys), (i, x) in enumerate(xs)
        z = c = complex(x, y)
        k = 0
        for it in 1:limit
            if abs2(z) <= 4
                z = z^2 + c
                k += 1
            end
        end
        counts[i, j] = k
    end
end

"Row-major buffer as C has it, multiplied into a Julia matrix."
@tessella function matvec_flat!(y, a, x)
    m, n = length(y), length(x)
    for i in 1:m
        s = zero(eltype(y))
        for j in 1:n
            s += a[(i-1)*n+j] * x[j]
        end
        y[i] = s
    end
end

"The same with a matrix, by one subscript."
@tessella function trace_and_anti(A)
    n = size(A, 1)
    t = zero(eltype(A))
    s = zero(eltype(A))
    for i in 1:n
        t += A[(i-1)*n+i]
        s += A[(i-1)*n+(n-i+1)]
    end
    return t, s
end

"An index as in a code with its own layout of cells: i + n (j - 1)."
@tessella function laplace_linear!(out, u)
    nx, ny = size(u)
    for j in 2:ny-1, i in 2:nx-1
        k = i + (j - 1) * nx
        out[k] = u[k-1] + u[k+1] + u[k-nx] + u[k+nx] - 4u[k]
    end
end

symbols(n) = integers_of(1, 3, n)
root16 = [cis(-2pi * k / 16) for k in 0:7]

program(lcs, (T, n) -> (symbols(n), symbols(n + 2)[3:end]))
program(knapsack_table, (T, n) -> (integers_of(1, 7, n), integers_of(3, 20, n), 2n))
program(levenshtein, (T, n) -> (symbols(n), symbols(n + 1)))
program(rod_cutting, (T, n) -> (integers_of(1, 30, n),))
program(fft16!, (T, n) -> (complex.(values_of(T, 16), positive_of(T, 16)), root16); sizes = [16])
program(dft, (T, n) -> (complex.(values_of(T, n), positive_of(T, n)),); sizes = [0, 1])
program(crank_nicolson!, (T, n) -> (values_of(T, n), 0.5, 3); types = [Float32, Float64], sizes = [1, 2, 3, 13])
program(restrict2d, (T, n) -> (values_of(T, n, n + 2),))
program(prolong2d!, (T, n) -> (values_of(T, 2n + 1, 2n + 3), values_of(T, n + 1, n + 2)))
program(summary_of, (T, n) -> (values_of(T, n, n + 1),); sizes = [1, 2, 3, 13])
program(spline_coefficients, (T, n) -> (cumsum(positive_of(T, n)), values_of(T, n)))
program(conway!, (T, n) -> (zeros(Bool, n, n + 1), Matrix{Bool}(isodd.(integers_of(1, 50, n, n + 1) .÷ 3))); sizes = [1, 2, 7], slow = true)
program(sandpile!, (T, n) -> (integers_of(0, 9, n, n), 4))
program(mandelbrot!, (T, n) -> (zeros(Int, n, n), values_of(T, n), 2 .* values_of(T, n), 20))
program(matvec_flat!, (T, n) -> (zeros(T, n), values_of(T, n * (n + 1)), values_of(T, n + 1)); types = [Float32, Float64])
program(trace_and_anti, (T, n) -> (values_of(T, n, n),); types = [Float32, Float64])
program(laplace_linear!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n, n + 1)); types = [Float32, Float64])

end
