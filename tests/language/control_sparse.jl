# Loops whose bounds are read from arrays: rows of sparse matrices, segments, lists of neighbours.

@tessella function csr_product!(y, rowptr, col, val, x)
    for i in 1:length(rowptr)-1
        acc = zero(eltype(y))
        for k in rowptr[i]:rowptr[i+1]-1
            acc += val[k] * x[col[k]]
        end
        y[i] = acc
    end
end

@tessella function csr_in_place!(y, rowptr, col, val, x)
    @inbounds for i in eachindex(y)
        y[i] = 0
        @simd for k in rowptr[i]:(rowptr[i+1]-1)
            y[i] += val[k] * x[col[k]]
        end
    end
end

@tessella function csc_product!(y, colptr, rowval, nzval, x, α)
    for j in 1:length(colptr)-1
        αx = α * x[j]
        for k in colptr[j]:colptr[j+1]-1
            y[rowval[k]] += nzval[k] * αx
        end
    end
    return y
end

@tessella function csr_gauss_seidel!(x, rowptr, col, val, b)
    for i in eachindex(x)
        s, d = b[i], one(eltype(x))
        for k in rowptr[i]:rowptr[i+1]-1
            j = col[k]
            if j == i
                d = val[k]
            else
                s -= val[k] * x[j]
            end
        end
        x[i] = s / d
    end
    return x
end

@tessella function csr_jacobi!(x, y, rowptr, col, val, b, sweeps)
    for sweep in 1:sweeps
        for i in eachindex(x)
            s = b[i]
            for k in rowptr[i]:rowptr[i+1]-1
                s -= val[k] * x[col[k]]
            end
            y[i] = s / 2
        end
        for i in eachindex(x)
            x[i] = y[i]
        end
    end
end

@tessella function degrees!(deg, rowptr)
    for v in eachindex(deg)
        for e in rowptr[v]:rowptr[v+1]-1
            deg[v] += 1
        end
    end
end

@tessella function count_of_edges(rowptr)
    n = 0
    for v in 1:length(rowptr)-1, e in rowptr[v]:rowptr[v+1]-1
        n += 1
    end
    return n
end

@tessella function pagerank_step!(next, rank, rowptr, col, outdegree, d)
    n = length(rank)
    for v in 1:n
        sum = zero(d)
        for e in rowptr[v]:rowptr[v+1]-1
            u = col[e]
            sum += rank[u] / outdegree[u]
        end
        next[v] = (1 - d) / n + d * sum
    end
end

@tessella function padded_rows!(y, A, col, len, x)
    for i in axes(A, 1)
        for l in 1:len[i]
            y[i] += A[i, l] * x[col[i, l]]
        end
    end
end

@tessella function block_rows!(y, rowptr, col, val, x)
    b = size(val, 1)
    for i in 1:length(rowptr)-1
        for k in rowptr[i]:rowptr[i+1]-1
            for c in 1:b, r in 1:b
                y[(i-1)*b+r] += val[r, c, k] * x[(col[k]-1)*b+c]
            end
        end
    end
end

@tessella function segments!(total, largest, off, x)
    for b in 1:length(off)-1
        for k in off[b]+1:off[b+1]
            total[b] += x[k]
            if x[k] > largest[b]
                largest[b] = x[k]
            end
        end
    end
end

@tessella function lower_solve!(x, rowptr, col, val, diag, b)
    for i in eachindex(x)
        s = b[i]
        for k in rowptr[i]:diag[i]-1
            s -= val[k] * x[col[k]]
        end
        x[i] = s / val[diag[i]]
    end
end

@tessella function upper_solve!(x, rowptr, col, val, diag, b)
    for i in length(x):-1:1
        s = b[i]
        for k in rowptr[i+1]-1:-1:diag[i]+1
            s -= val[k] * x[col[k]]
        end
        x[i] = s / val[diag[i]]
    end
end

@tessella function two_levels!(y, blockptr, rowptr, x)
    for b in 1:length(blockptr)-1
        for i in blockptr[b]:blockptr[b+1]-1
            for k in rowptr[i]:rowptr[i+1]-1
                y[i] += b * x[k]
            end
        end
    end
end

@tessella function every_second!(y, first, last, x)
    for i in eachindex(y)
        for k in first[i]:2:last[i]
            y[i] += x[k]
        end
        for k in last[i]:-3:first[i]
            y[i] -= x[k] / 2
        end
    end
end

@tessella function rows_where!(y, rowptr, val, mask, threshold)
    for i in eachindex(y)
        if mask[i] > 0
            first = rowptr[i]
            last = rowptr[i+1] - 1
            for k in first:last
                val[k] > threshold || continue
                y[i] += val[k]
                y[i] *= 2
            end
        end
    end
end

@tessella function transposed_rows!(count, pos, rowptr, col)
    for i in 1:length(rowptr)-1, k in rowptr[i]:rowptr[i+1]-1
        count[col[k]] += 1
        pos[k] = i
    end
end

@tessella function row_sums_of_generator!(y, rowptr::Vector{Int}, col::Vector{Int}, val::Vector{T}, x::Vector{T}) where {T}
    for i in eachindex(y)
        y[i] = sum(val[k] * x[col[k]] for k in rowptr[i]:rowptr[i+1]-1)
    end
end

@tessella function first_of_row!(y, rowptr, val)
    for i in eachindex(y)
        y[i] = -1
        for k in rowptr[i]:rowptr[i+1]-1
            if val[k] > 0
                y[i] = val[k]
                break
            end
        end
    end
end

@tessella function narrow_pointers!(y, rowptr, col, val, x)
    for i in eachindex(y)
        s = zero(eltype(y))
        for k in rowptr[i]:rowptr[i+1]-one(eltype(rowptr))
            s += val[k] * x[col[k]]
        end
        y[i] = s
    end
end

@tessella function slices_of_read_length!(y, x, count)
    k = count[1]
    y[1:k] .= x[1:k] .+ 1
    y[k+1:end] .= 0
    return nothing
end

# Row pointers of `n` rows of none to three elements, and a column for each element.
function rows_of(n, ::Type{I} = Int) where {I}
    lengths = Int[n < 2 ? n : mod(5i + 2, 4) for i in 1:n]
    rowptr = I[1; 1 .+ cumsum(lengths)]
    col = I[mod(7k + 3, max(n, 1)) + 1 for k in 1:sum(lengths)]
    return rowptr, col
end

sparse_case(f, more...) = case(f, (T, n) -> begin
    rowptr, col = rows_of(n)
    (values_of(T, n), rowptr, col, values_of(T, length(col)), values_of(T, n), more...)
end)

sparse_case(csr_product!)
case(csr_in_place!, (T, n) -> begin
    rowptr, col = rows_of(n)
    (zeros(Int, n), rowptr, col, collect(1:length(col)), collect(1:n))
end; types = [Int])
sparse_case(csc_product!, 0.5f0)
sparse_case(csr_gauss_seidel!)
case(csr_jacobi!, (T, n) -> begin
    rowptr, col = rows_of(n)
    (values_of(T, n), zeros(T, n), rowptr, col, values_of(T, length(col)), values_of(T, n), 3)
end)
case(degrees!, (T, n) -> (zeros(Int, n), rows_of(n)[1]); types = [Int])
case(count_of_edges, (T, n) -> (rows_of(n)[1],); types = [Int])
case(pagerank_step!, (T, n) -> begin
    rowptr, col = rows_of(n)
    (zeros(T, n), fill(one(T) / max(n, 1), n), rowptr, col, fill(2, n), T(0.85))
end)
case(padded_rows!, (T, n) -> (zeros(T, n), values_of(T, n, 4), within(T, n, n, 4) .|> Int, Int[mod(3i, 5) for i in 1:n], values_of(T, n)))
case(block_rows!, (T, n) -> begin
    rowptr, col = rows_of(n)
    (zeros(T, 2n), rowptr, col, values_of(T, 2, 2, length(col)), values_of(T, 2n))
end)
case(segments!, (T, n) -> begin
    rowptr, col = rows_of(n)
    (zeros(T, n), zeros(T, n), rowptr .- 1, values_of(T, length(col)))
end)
for f in (lower_solve!, upper_solve!)
    case(f, (T, n) -> begin
        # Columns i - 1, i and i + 1, those that there are.
        columns = Int[j for i in 1:n for j in max(i - 1, 1):min(i + 1, n)]
        rowptr = [1; 1 .+ cumsum(Int[length(max(i - 1, 1):min(i + 1, n)) for i in 1:n])]
        diag = Int[rowptr[i] + (i > 1) for i in 1:n]
        (zeros(T, n), rowptr, columns, values_of(T, length(columns)) .+ 2, diag, values_of(T, n))
    end)
end
case(two_levels!, (T, n) -> begin
    rowptr, col = rows_of(n)
    (zeros(T, n), n == 0 ? [1, 1] : [1, n ÷ 2 + 1, n + 1], rowptr, values_of(T, length(col)))
end)
case(every_second!, (T, n) -> (zeros(T, n), Int[mod(3i, n) + 1 for i in 1:n], Int[mod(5i, n) + 1 for i in 1:n], values_of(T, n)))
case(rows_where!, (T, n) -> begin
    rowptr, col = rows_of(n)
    (zeros(T, n), rowptr, values_of(T, length(col)), Int[i % 3 - 1 for i in 1:n], T(-0.25))
end)
case(transposed_rows!, (T, n) -> begin
    rowptr, col = rows_of(n)
    (zeros(Int, n), zeros(Int, length(col)), rowptr, col)
end; types = [Int])
sparse_case(row_sums_of_generator!)
case(first_of_row!, (T, n) -> begin
    rowptr, col = rows_of(n)
    (zeros(T, n), rowptr, values_of(T, length(col)))
end)
case(slices_of_read_length!, (T, n) -> (values_of(T, n), values_of(T, n), [n ÷ 2]))
case(slices_of_read_length!, (T, n) -> (values_of(T, n), values_of(T, n), [n + 1]))
case(slices_of_read_length!, (T, n) -> (values_of(T, n), values_of(T, n ÷ 2), [n]))
for I in (Int32, UInt8)
    case(narrow_pointers!, (T, n) -> begin
        rowptr, col = rows_of(n, I)
        (zeros(T, n), rowptr, col, values_of(T, length(col)), values_of(T, n))
    end)
end

# What is wrong: pointers that leave the elements, columns that leave the vector, pointers that are missing, arrays of
# different lengths. Julia raises where it gets there.
wrong_rows(change) = (T, n) -> begin
    rowptr, col = rows_of(n)
    arguments = (values_of(T, n), rowptr, col, values_of(T, length(col)), values_of(T, n))
    change(arguments...)
end
case(csr_product!, wrong_rows((y, p, c, v, x) -> (y, p .+ 1, c, v, x)))
case(csr_product!, wrong_rows((y, p, c, v, x) -> (y, p .- 1, c, v, x)))
case(csr_product!, wrong_rows((y, p, c, v, x) -> (y, p, c .+ 1, v, x)))
case(csr_product!, wrong_rows((y, p, c, v, x) -> (y, p, c[1:end÷2], v, x)))
case(csr_product!, wrong_rows((y, p, c, v, x) -> (y, p, c, v[1:end÷2], x)))
case(csr_gauss_seidel!, wrong_rows((y, p, c, v, x) -> (y, p[1:end-1], c, v, x)))
# Empty rows far out are no error.
case(csr_product!, wrong_rows((y, p, c, v, x) -> (y, Int[typemax(Int) - i for i in eachindex(p)], c, v, x)))
case(degrees!, (T, n) -> (zeros(Int, n), [(1 << 50) + 2i for i in 0:n]); types = [Int])

# Conditions on the iterator of a loop whose bounds are data, which would divide it.
@tessella function every_fourth_apart!(counts, pointers)
    for i in 1:length(pointers)-1
        for k in pointers[i]:pointers[i+1]-1
            if k % 4 == 0
                counts[1] += 1
            else
                counts[2] += k
            end
        end
    end
end

@tessella function segments_by_place!(counts, last, pointers, y, values)
    for i in 1:length(pointers)-1
        for k in pointers[i]:pointers[i+1]-1
            counts[mod1(k, 4)] += 1
            counts[k == 5 ? 1 : 2] += i
            last[mod1(k, 3)] = i
            if k != i && values[k] > 0
                y[abs(k - i)] += values[k]
            elseif k == i
                y[i] -= values[mod1(k, 7)]
            end
        end
    end
end

@tessella function inner_ranges_apart!(y, outer, pointers, values)
    for g in 1:length(outer)-1
        for i in outer[g]:outer[g+1]-1
            i == 3 && continue
            for k in pointers[i]:pointers[i+1]-1
                y[i == 1 ? 1 : g] += k % 2 == i % 2 ? values[k] : -values[k]
                k ÷ 2 == i && (y[1] *= 2)
            end
        end
    end
end

for entries in (4, 2, 1)
    case(every_fourth_apart!, (T, n) -> (zeros(Int, entries), first(rows_of(n))); types = [Int])
    case(segments_by_place!, (T, n) -> begin
        rowptr, col = rows_of(n)
        (zeros(Int, entries), zeros(Int, 3), rowptr, zeros(T, 3n), values_of(T, max(length(col), 7)))
    end)
end
case(segments_by_place!, (T, n) -> begin
    rowptr, col = rows_of(n)
    (zeros(Int, 4), zeros(Int, 3), rowptr, zeros(T, max(n - 1, 0)), values_of(T, max(length(col) - 1, 7)))
end)
case(inner_ranges_apart!, (T, n) -> begin
    rowptr, col = rows_of(n)
    (zeros(T, n), n == 0 ? [1, 1] : [1, n ÷ 2 + 1, n + 1], rowptr, values_of(T, length(col)))
end)
case(inner_ranges_apart!, (T, n) -> begin
    rowptr, col = rows_of(n)
    (zeros(T, 1), n == 0 ? [1, 1] : [1, n ÷ 2 + 1, n + 1], rowptr, values_of(T, length(col)))
end)
