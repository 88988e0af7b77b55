"""
Sparse matrices and graphs in compressed rows and columns, as packages store them: solvers, sweeps, PageRank, and an image's
histogram with narrow counters.
"""
module Sparse

using Tessella
using ..Programs: program, values_of, positive_of, integers_of

"`y = A * x` by rows."
function multiply!(y, rowptr, col, val, x)
    @inbounds for i in 1:length(rowptr)-1
        s = zero(eltype(y))
        for k in rowptr[i]:rowptr[i+1]-1
            s += val[k] * x[col[k]]
        end
        y[i] = s
    end
    return y
end

"Conjugate gradients for a symmetric matrix by rows; `r`, `p` and `q` are work arrays."
@tessella function conjugate_gradients!(x, r, p, q, rowptr, col, val, b, iterations)
    n = length(x)
    multiply!(q, rowptr, col, val, x)
    ρ = zero(eltype(x))
    for i in 1:n
        r[i] = b[i] - q[i]
        p[i] = r[i]
        ρ += r[i] * r[i]
    end
    for iteration in 1:iterations
        multiply!(q, rowptr, col, val, p)
        pq = zero(ρ)
        for i in 1:n
            pq += p[i] * q[i]
        end
        α = pq == 0 ? zero(ρ) : ρ / pq
        ρ_next = zero(ρ)
        for i in 1:n
            x[i] += α * p[i]
            r[i] -= α * q[i]
            ρ_next += r[i] * r[i]
        end
        β = ρ == 0 ? zero(ρ) : ρ_next / ρ
        ρ = ρ_next
        for i in 1:n
            p[i] = r[i] + β * p[i]
        end
    end
    return ρ
end

"A symmetric Gauss-Seidel sweep: forwards, then backwards, each row from its other end."
@tessella function symmetric_sweep!(x, rowptr, col, val, diag, b)
    n = length(x)
    for i in 1:n
        s = b[i]
        for k in rowptr[i]:rowptr[i+1]-1
            col[k] == i && continue
            s -= val[k] * x[col[k]]
        end
        x[i] = s / val[diag[i]]
    end
    for i in n:-1:1
        s = b[i]
        for k in rowptr[i+1]-1:-1:diag[i]+1
            s -= val[k] * x[col[k]]
        end
        for k in rowptr[i]:diag[i]-1
            s -= val[k] * x[col[k]]
        end
        x[i] = s / val[diag[i]]
    end
end

"`Y = A * X` and `Z = A' * X` of a matrix by columns, with several right-hand sides."
@tessella function columns_times_block!(Y, Z, colptr, rowval, nzval, X)
    fill!(Y, 0)
    for c in axes(X, 2), j in 1:length(colptr)-1
        t = zero(eltype(Z))
        for k in colptr[j]:colptr[j+1]-1
            i = rowval[k]
            Y[i, c] += nzval[k] * X[j, c]
            t += nzval[k] * X[i, c]
        end
        Z[j, c] = t
    end
end

"PageRank over links by their targets, two arrays in turn."
@tessella function pagerank!(rank, next, rowptr, source, links, damping, iterations)
    n = length(rank)
    for iteration in 1:iterations
        lost = zero(damping)
        for v in 1:n
            if links[v] == 0
                lost += rank[v]
            end
        end
        base = (1 - damping + damping * lost) / n
        for v in 1:n
            s = zero(damping)
            for e in rowptr[v]:rowptr[v+1]-1
                u = source[e]
                s += rank[u] / links[u]
            end
            next[v] = base + damping * s
        end
        rank, next = next, rank
    end
    return rank
end

"How many triangles each vertex is in, with sorted lists of neighbours."
@tessella function triangles!(count, rowptr, neighbour)
    for v in eachindex(count)
        t = 0
        for e in rowptr[v]:rowptr[v+1]-1
            w = neighbour[e]
            for a in rowptr[v]:rowptr[v+1]-1, b in rowptr[w]:rowptr[w+1]-1
                t += neighbour[a] == neighbour[b]
            end
        end
        count[v] = t
    end
end

"Equalises the histogram of an image of bytes, counted in 32 bits."
@tessella function equalise!(out, img, counts, table)
    fill!(counts, 0)
    for p in eachindex(img)
        counts[img[p]+1] += 1
    end
    sum = 0
    for level in 1:256
        sum += counts[level]
        table[level] = sum / length(img)
    end
    for p in eachindex(out, img)
        out[p] = table[img[p]+1]
    end
end

# The matrix of a chain with periodic shortcuts, symmetric, by rows.
function chain(::Type{T}, n, ::Type{I} = Int) where {T,I}
    neighbours(i) = sort(unique(filter(j -> 1 <= j <= n, [i - 3, i - 1, i, i + 1, i + 3])))
    rowptr = I[1; 1 .+ cumsum(Int[length(neighbours(i)) for i in 1:n])]
    col = I[j for i in 1:n for j in neighbours(i)]
    val = T[i == j ? 5 : -1 - abs(i - j) / 8 for i in 1:n for j in neighbours(i)]
    diag = Int[findfirst(==(i), neighbours(i)) + rowptr[i] - 1 for i in 1:n]
    return rowptr, col, val, diag
end

program(conjugate_gradients!, (T, n) -> begin
    rowptr, col, val, _ = chain(T, n, Int32)
    (zeros(T, n), zeros(T, n), zeros(T, n), zeros(T, n), rowptr, col, val, values_of(T, n), 4)
end; types = [Float32, Float64])
program(symmetric_sweep!, (T, n) -> begin
    rowptr, col, val, diag = chain(T, n)
    (zeros(T, n), rowptr, col, val, diag, values_of(T, n))
end)
program(columns_times_block!, (T, n) -> begin
    colptr, rowval, nzval, _ = chain(T, n)
    (zeros(T, n, 2), zeros(T, n, 2), colptr, rowval, nzval, values_of(T, n, 2))
end; types = [Float32, Float64])
program(pagerank!, (T, n) -> begin
    rowptr, source, _, _ = chain(T, n)
    (fill(one(T) / max(n, 1), n), zeros(T, n), rowptr, source, Int[i % 5 == 0 ? 0 : count(==(i), source) for i in 1:n], T(0.85), 3)
end)
program(triangles!, (T, n) -> begin
    rowptr, neighbour, _, _ = chain(T, n)
    (zeros(Int, n), rowptr, neighbour)
end)
program(equalise!, (T, n) -> (zeros(T, n, n + 1), UInt8.(integers_of(0, 255, n, n + 1)), zeros(Int32, 256), zeros(T, 256)))

end
