# Names of arrays that come to mean other arrays.

@tessella function ping_pong!(A, B, steps::Int)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            B[i] = (A[i-1] + A[i+1]) / 2
        end
        A, B = B, A
    end
    return A
end

@tessella function three_line_swap!(A, B, steps::Int)
    for t in 3:steps
        tmp = A
        A = B
        B = tmp
        for i in 2:length(A)
            B[i] = A[i-1] + t
        end
    end
    for i in 1:length(A)
        A[i] += 1
    end
    return nothing
end

@tessella function three_arrays!(A, B, C, steps::Int)
    for t in steps:-2:1
        for i in 1:length(A)
            C[i] = A[i] + 2B[i] + t
        end
        A, B, C = B, C, A
    end
    A[1] = -1
    return C
end

@tessella function aliases!(A, B)
    X = A
    Y = B
    X, Y = Y, X
    for i in 1:length(X)
        X[i] = 2Y[i]
    end
    return X
end

@tessella function swapped_inside!(A, B, steps::Int)
    for k in 1:2
        X, Y = A, B
        for t in 1:steps
            for i in 1:length(X)
                Y[i] = X[i] + k
            end
            X, Y = Y, X
        end
        for i in 1:length(X)
            X[i] = 2X[i]
        end
    end
    return nothing
end

step_of!(B, A) =
    for i in 2:length(A)-1
        B[i] = A[i-1] - A[i+1]
    end

@tessella function swapped_with_a_function!(A, B, steps::Int)
    for t in 1:steps
        step_of!(B, A)
        A, B = B, A
    end
    return B
end

@tessella function swap_in_while!(A, B, steps::Int)
    t = 0
    while t < steps
        step_of!(B, A)
        A, B = B, A
        t += 1
    end
    return A
end

for steps in (0, 1, 2, 5), f in (ping_pong!, three_line_swap!, swapped_inside!, swapped_with_a_function!, swap_in_while!)
    case(f, (T, n) -> (values_of(T, n), values_of(T, n), steps))
end
for steps in (0, 1, 2, 5)
    case(three_arrays!, (T, n) -> (values_of(T, n + 1), values_of(T, n + 1), values_of(T, n + 1), steps))
end
case(aliases!, (T, n) -> (values_of(T, n), values_of(T, n)))
