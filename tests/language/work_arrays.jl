# Work arrays that an iteration fills before it reads them, so that iterations can have one each; what the last one to write an
# element left there is seen afterwards.

@tessella function work_of_columns!(A, w)
    m, n = size(A)
    for j in 1:n
        for i in 1:m
            w[i] = A[i, j] + A[m+1-i, j]
        end
        for i in 1:m
            A[i, j] = w[i] * w[m+1-i]
        end
    end
    return nothing
end
case(work_of_columns!, (T, n) -> (values_of(T, n, n + 2), fill(T(-7), n + 1)))

# Columns write fewer and fewer elements: each element keeps what another column left.
@tessella function work_of_shorter_columns!(A, w)
    n = size(A, 1)
    for j in 1:n
        for i in j:n
            w[i] = 2 * A[i, j]
        end
        for i in j:n
            A[i, j] = w[n+j-i] + w[j]
        end
    end
    return nothing
end
case(work_of_shorter_columns!, (T, n) -> (values_of(T, n, n), fill(T(-7), n)))

# The same from the last column to the first.
@tessella function work_backwards!(A, w)
    n = size(A, 1)
    for j in n:-1:1
        for i in 1:j
            w[i] = 2 * A[i, j]
        end
        for i in 1:j
            A[i, j] = w[j+1-i] + w[1]
        end
    end
    return nothing
end
case(work_backwards!, (T, n) -> (values_of(T, n, n), fill(T(-7), n)))

# Every other column, and planes inside; a work array with two axes. What it holds is read after the loops.
@tessella function work_of_planes!(A, w, s)
    m, n, k = size(A)
    for r in 1:2:k
        for j in 1:n, i in 1:m
            w[i, j] = A[i, j, r] + r
        end
        for j in 1:n, i in 1:m
            A[i, j, r] = w[m+1-i, n+1-j]
        end
    end
    for j in 1:n, i in 1:m
        s[i, j] = w[i, j]
    end
    return nothing
end
case(work_of_planes!, (T, n) -> (values_of(T, n, 3, n + 1), fill(T(-7), n, 3), zeros(T, n, 3)))

# A sum for each row into a work array, and one array more that all iterations share.
@tessella function work_of_products!(A, C, w, u)
    m, n, k = size(A)
    for r in 1:k, q in 1:n
        for p in 1:m
            w[p] = 0
            u[p] = A[p, q, r]
            for s in 1:m
                w[p] += A[s, q, r] * C[s, p]
            end
        end
        for p in 1:m
            A[p, q, r] = w[p] - u[m+1-p]
        end
    end
    return nothing
end
case(work_of_products!, (T, n) -> (values_of(T, n, n + 1, 2), values_of(T, n, n), zeros(T, n), zeros(T, n + 1)))

# The first element is what the column before left: no column can have an array of its own.
@tessella function work_that_goes_on!(A, w)
    m, n = size(A)
    for j in 1:n
        for i in 2:m
            w[i] = A[i, j] + w[1]
        end
        for i in 1:m
            A[i, j] = w[m+1-i]
        end
        w[1] = A[m, j]
    end
    return nothing
end
case(work_that_goes_on!, (T, n) -> (values_of(T, n + 1, n), values_of(T, n + 1)))
