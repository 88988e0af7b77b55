# Whether subscripts are inside of an array, and the numbers of its elements.

@tessella function inside_asked!(B, A)
    for j in axes(A, 2), i in axes(A, 1)
        for (di, dj) in ((-1, 0), (1, 0), (0, -1), (0, 2))
            if checkbounds(Bool, A, i + di, j + dj)
                B[i, j] += A[i+di, j+dj]
            end
        end
    end
    return nothing
end
case(inside_asked!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function inside_places_asked!(B, A)
    for I in CartesianIndices(A)
        right = I + CartesianIndex(0, 1)
        B[I] = checkbounds(Bool, A, right) && checkbounds(Bool, A, I[1] + 1, 1) ? A[right] : -A[I]
    end
    return checkbounds(Bool, A, length(A)), checkbounds(Bool, A, 0), checkbounds(Bool, B, 2, 2)
end
case(inside_places_asked!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function inside_by_data!(y, x, k)
    for i in eachindex(k)
        checkbounds(Bool, x, k[i]) || continue
        y[i] = x[k[i]]
    end
    return nothing
end
case(inside_by_data!, (T, n) -> (zeros(T, n), values_of(T, n), [3k - 4 for k in 1:n]))

@tessella function inside_or_thrown!(y, k)
    y[1] = 1
    checkbounds(y, k)
    @inbounds y[k] = 2
    return nothing
end
for k in (0, 1, 3, 18)
    case(inside_or_thrown!, (T, n) -> (zeros(T, n + 1), k); types = [Float64])
end

@tessella function numbers_of_elements!(B, y, A)
    numbers = LinearIndices(A)
    for j in axes(A, 2), i in axes(A, 1)
        B[i, j] = numbers[i, j] + 2 * LinearIndices((7, 9))[mod1(i, 7), mod1(j, 9)]
        y[LinearIndices(A)[i, j]] = A[numbers[i, j]]
    end
    for I in CartesianIndices(A)
        B[numbers[I]] += LinearIndices(size(A))[I]
    end
    return length(numbers), size(numbers), sum(LinearIndices(A)), collect(LinearIndices(A)), LinearIndices(y)[end]
end
case(numbers_of_elements!, (T, n) -> (zeros(Int, n + 1, n + 2), zeros(T, (n + 1) * (n + 2)), values_of(T, n + 1, n + 2)))

# A number means another place in an array of another shape.
@tessella function numbers_in_others!(B, A)
    for j in axes(A, 2), i in axes(A, 1)
        B[LinearIndices(A)[i, j]] = A[i, j]
    end
    return B
end
case(numbers_in_others!, (T, n) -> (zeros(T, n + 1, n), values_of(T, n, n + 1)))
case(numbers_in_others!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function numbers_outside(A, i)
    return LinearIndices(A)[i, 1]
end
case(numbers_outside, (T, n) -> (values_of(T, n, n + 1), 2); types = [Float64])

# Unions of neighbours by their numbers, as in labelling.
@tessella function numbers_as_labels!(labels, A)
    numbers = LinearIndices(labels)
    for I in CartesianIndices(labels)
        labels[I] = A[I] > 0 ? numbers[I] : 0
    end
    for j in axes(labels, 2), i in 2:size(labels, 1)
        if labels[i, j] > 0 && labels[i-1, j] > 0
            labels[i, j] = labels[i-1, j]
        end
    end
    return nothing
end
case(numbers_as_labels!, (T, n) -> (zeros(Int, n, n + 1), values_of(T, n, n + 1)))

# All elements in one row, which shares its memory with the array.
@tessella function rows_read!(y, A)
    v = vec(A)
    for i in eachindex(v)
        y[i] = v[i] - vec(A)[length(v)+1-i]
    end
    A[1, 1] = 7
    return v[1], length(v), size(v), sum(v), maximum(abs, vec(A)), sum(vec(y)), count(a -> a > 0, vec(A)), sum(vec(A), dims = 1)
end
case(rows_read!, (T, n) -> (zeros(T, (n + 1) * (n + 2)), values_of(T, n + 1, n + 2)))

@tessella function rows_stored!(A, k)
    v = vec(A)
    v[k] = 3
    vec(A)[end] += v[k]
    return v[end]
end
for k in (0, 1, 5, 6, 7)
    case(rows_stored!, (T, n) -> (values_of(T, n, 3), k); types = [Float64])
end
