# Which accesses happen decides which subscripts may be wrong: results and exceptions are Julia's.

# Read before the condition: wrong for the first element, whatever the condition says.
@tessella function read_before_a_condition!(B, A)
    for i in eachindex(B)
        v = A[i-1]
        if i > 1 && v > 0
            B[i] = 1
        end
    end
end

@tessella function read_before_an_alternative!(B, A)
    for i in eachindex(B)
        v = A[i-1]
        if i <= 1 || v > 0
        else
            B[i] = 1
        end
    end
end

@tessella function condition_around_a_condition!(B, A, k)
    for i in eachindex(B)
        if A[i+k] > 0
            if i < length(B)
                B[i] = i
            end
        end
    end
end

@tessella function condition_before_another!(B, A, k)
    for i in eachindex(B)
        if A[i+k] > 2
        elseif i > k
            B[i] = i
        end
    end
end

@tessella function condition_for_nothing!(B, A)
    for i in eachindex(B)
        B[i] = i
        if A[i+1] > 0
        end
        for j in 1:2
            if i > 1
                if A[j] > 0
                end
            end
        end
    end
end

@tessella function value_in_a_choice!(B, A)
    for i in eachindex(B)
        v = A[i-1]
        B[i] = i > 1 ? v : B[i]
    end
end

@tessella function second_of_two_conditions!(B, A, M)
    for i in eachindex(B)
        v = A[i+1]
        if M[i] > 0 && v > 0
            B[i] = v
        end
    end
end

# Under a condition on data.
@tessella function store_next_where!(A, M)
    for i in eachindex(M)
        if M[i] > 0
            A[i+1] = i
        end
    end
end

@tessella function read_neighbours_where!(B, A, M)
    for i in eachindex(B)
        if M[i] > 0
            B[i] = A[i-1] + A[i+1]
        else
            B[i] = A[i]
        end
    end
end

@tessella function choose_neighbour!(B, A, M)
    for i in eachindex(B)
        B[i] = M[i] > 0 && A[i+1] > 0 ? A[i-1] : A[i]
    end
end

@tessella function conditions_that_read_on!(B, A, M)
    for i in eachindex(B)
        if M[i] > 0 && A[i+1] != 7 && A[i+2] != 7
            v = A[i+2]
            B[i] = v
            B[i+1] = A[i+3]
        end
    end
end

@tessella function matrix_where!(B, A, M)
    for j in axes(M, 2), i in axes(M, 1)
        if M[i, j] > 0
            B[i, j+1] = A[i+1, j] - A[i, j]
            if M[i, j] > 2
                B[i+1, j] = 1
            end
        end
    end
end

# The condition is written by the function: all iterations are checked.
@tessella function condition_that_changes!(A)
    for i in 2:length(A)-1
        if A[i] > 0
            A[i+1] = A[i-1]
        end
    end
end

@tessella function gather_of_a_neighbour!(B, A, idx, M)
    for i in eachindex(B)
        if M[i] > 0
            k = idx[i+1]
            B[i] = A[k]
        end
    end
end

pattern(n, every...) = Int[k in every ? 3 : 0 for k in 1:n]
alternating(n) = Int[k % 2 for k in 1:n]

case(read_before_a_condition!, (T, n) -> (zeros(T, n), values_of(T, n)))
case(read_before_an_alternative!, (T, n) -> (zeros(T, n), values_of(T, n)))
case(condition_around_a_condition!, (T, n) -> (zeros(T, n), values_of(T, n), 0))
case(condition_around_a_condition!, (T, n) -> (zeros(T, n), values_of(T, n), 1))
case(condition_before_another!, (T, n) -> (zeros(T, n), values_of(T, n), 0))
case(condition_before_another!, (T, n) -> (zeros(T, n), values_of(T, n), -1))
case(condition_for_nothing!, (T, n) -> (zeros(T, n), values_of(T, n)))
case(condition_for_nothing!, (T, n) -> (zeros(T, n), values_of(T, n + 1)))
case(value_in_a_choice!, (T, n) -> (zeros(T, n), values_of(T, n)))
case(second_of_two_conditions!, (T, n) -> (zeros(T, n), values_of(T, n), zeros(Int, n)))
case(second_of_two_conditions!, (T, n) -> (zeros(T, n), values_of(T, n + 1), alternating(n)))
for mask in (n -> zeros(Int, n), n -> ones(Int, n), n -> pattern(n, n), n -> pattern(n, 1), n -> pattern(n, n - 1), n -> pattern(n, 2, n - 2, n - 3))
    case(store_next_where!, (T, n) -> (zeros(T, n), mask(n)))
    case(read_neighbours_where!, (T, n) -> (zeros(T, n), values_of(T, n), mask(n)))
    case(choose_neighbour!, (T, n) -> (zeros(T, n), values_of(T, n), mask(n)))
    case(choose_neighbour!, (T, n) -> (zeros(T, n), -ones(T, n), mask(n)))
    case(conditions_that_read_on!, (T, n) -> (zeros(T, n), values_of(T, n), mask(n)))
    case(conditions_that_read_on!, (T, n) -> (zeros(T, n), fill(T(7), n), mask(n)))
    case(matrix_where!, (T, n) -> (zeros(T, n, n), values_of(T, n, n), reshape(mask(n * n), n, n)))
    case(matrix_where!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n + 1, n), reshape(mask(n * n), n, n)))
    case(gather_of_a_neighbour!, (T, n) -> (zeros(T, n), values_of(T, n), Int[mod(5k, max(n, 1)) + 1 for k in 1:n], mask(n)))
end
case(condition_that_changes!, (T, n) -> (values_of(T, n),))
