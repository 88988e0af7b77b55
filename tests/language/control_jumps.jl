# `continue`, `break` and early `return`.

@tessella function continue_where_data_says!(B, A)
    for i in 1:length(A)
        A[i] > 0 || continue
        B[i] = sqrt(A[i])
    end
    return nothing
end

@tessella function continue_twice!(B, A)
    for j in 1:size(A, 2), i in 1:size(A, 1)
        i == j && continue
        if A[i, j] < 0
            B[i, j] = -1
            continue
        end
        B[i, j] = A[i, j] + 1
    end
    return nothing
end

@tessella function continue_deep!(B, A)
    for i in 1:length(A)
        if A[i] > 0
            if i > 3
                continue
            end
            B[i] = 2A[i]
        end
        B[i] += 1
    end
    return nothing
end

@tessella function continue_from_begin!(B, A)
    for i in 1:length(A)
        @inbounds begin
            if A[i] < 0
                B[i] = 0
                continue
            end
            B[i] = A[i]
        end
        B[i] += 1
    end
    return nothing
end

@tessella function break_at_bound!(B, A, m::Int)
    for i in 1:length(A)
        B[i] = 2A[i]
        i >= m && break
        B[i] += 1
    end
    return nothing
end

@tessella function break_at_equal!(B, A, m::Int)
    for i in 1:2:length(A)
        if i == m
            break
        end
        B[i] = A[i]
    end
    return nothing
end

@tessella function break_going_down!(B, A, m::Int)
    for i in length(A):-1:1
        if i < m
            break
        end
        B[i] = A[i]
    end
    return nothing
end

@tessella function break_at_once!(B, A, m::Int)
    for i in 1:length(A)
        i < m && break
        B[i] = A[i]
    end
    return nothing
end

@tessella function break_where_data_says!(B, A)
    for i in 1:length(A)
        if A[i] > 0.9
            break
        end
        B[i] = 2A[i]
    end
    return nothing
end

@tessella function break_of_the_inner_loop!(B, A)
    for j in 1:size(A, 2)
        for i in 1:size(A, 1)
            A[i, j] > 0.5 && break
            B[i, j] = 1
        end
        B[1, j] += 2
    end
    return nothing
end

@tessella function break_of_both_loops!(B, A)
    for j in 1:size(A, 2), i in 1:size(A, 1)
        if A[i, j] > 0.7
            B[i, j] = 5
            break
        end
        B[i, j] = 1
    end
    return nothing
end

@tessella function break_and_continue!(B, A)
    for i in 1:length(A)
        if A[i] > 0.8
            B[i] = 3
            break
        elseif A[i] < 0
            continue
        else
            B[i] = 1
        end
        B[i] += A[i]
    end
    return nothing
end

@tessella function first_above(A, x)
    for i in 1:length(A)
        if A[i] > x
            return A[i]
        end
    end
    return zero(x)
end

@tessella function position_of(A, x)
    for j in 1:size(A, 2)
        for i in 1:size(A, 1)
            A[i, j] == x && return i + 100j
        end
    end
    return 0
end

@tessella function return_early!(B, A)
    n = length(A)
    n > 2 || return nothing
    m = n - 1
    for i in 2:m
        B[i] = A[i-1] + A[i+1]
    end
    if A[1] > 0
        B[1] = 1
        return nothing
    end
    B[n] = 2
    return nothing
end

@tessella function return_of_either(A, flag::Bool)
    if flag
        if length(A) > 2
            return A[1]
        end
    else
        return -A[end]
    end
    return A[end] + 1
end

@tessella function return_same_array!(B, A)
    length(A) > 1 || return B
    for i in 1:length(A)
        A[i] > 0.9 && return B
        B[i] = A[i]
    end
    return B
end

# Sizes say nothing about whether the accesses behind a jump are reached: the arrays may be shorter than the ranges.
@tessella function break_before_the_end(A)
    s = zero(eltype(A))
    for i in 1:100
        A[i] == 0 && break
        s += A[i]
    end
    return s
end

@tessella function break_before_a_store!(B, A, v)
    for i in 1:length(A)
        A[i] > v && break
        B[i] = A[i]
    end
    return nothing
end

@tessella function return_before_a_store!(B, A, v)
    for i in 1:length(A)
        if A[i] > v
            B[i] = v
            return B
        end
        B[i] = A[i]
    end
    B .= 0
    return B
end

@tessella function jump_by_what_is_written!(B, A)
    for i in 1:length(A)
        for j in 1:10
            j > i && break
            B[i+j] += A[j]
            i + j >= length(B) && break
        end
        A[i] = B[i]
        A[i] > 0 && break
    end
    return nothing
end

@tessella function choose_by_what_is_written!(B, A, C)
    for i in 1:length(B)
        B[i] = B[i] > 0 ? A[i] : C[i]
    end
    return nothing
end

# The arrays agree where it matters, or nowhere.
@tessella function copy_where_data_says!(B, A)
    for i in 1:length(A)
        A[i] += 1
        if A[i] > 1.5
            B .= A
        end
    end
    return nothing
end

two(T, n) = (values_of(T, n), values_of(T, n))
square(T, n) = (zeros(T, n, n), values_of(T, n, n))
case(continue_where_data_says!, two)
case(continue_twice!, square)
case(continue_deep!, two)
case(continue_from_begin!, two)
for m in (0, 2, 5), f in (break_at_bound!, break_at_equal!, break_going_down!, break_at_once!)
    case(f, (T, n) -> (two(T, n)..., m))
end
case(break_where_data_says!, two)
case(break_of_the_inner_loop!, square)
case(break_of_both_loops!, square)
case(break_and_continue!, two)
case(first_above, (T, n) -> (values_of(T, n), T(0.5)))
case(first_above, (T, n) -> (values_of(T, n), T(2)))
case(position_of, (T, n) -> (values_of(T, n, n), T(0.25)))
case(return_early!, two)
case(return_of_either, (T, n) -> (values_of(T, n + 1), true))
case(return_of_either, (T, n) -> (values_of(T, n + 1), false))
case(return_same_array!, two)
case(break_before_the_end, (T, n) -> ([values_of(T, n); zero(T)],))
case(break_before_the_end, (T, n) -> (ones(T, n),))
for m in (0, 2, 5), v in (-2, 0.4, 2), f in (break_before_a_store!, return_before_a_store!)
    case(f, (T, n) -> (zeros(T, m), values_of(T, n), T(v)))
end
for added in (0, 1, 9)
    case(jump_by_what_is_written!, (T, n) -> (values_of(T, n + added), values_of(T, n)))
end
case(choose_by_what_is_written!, (T, n) -> (values_of(T, n), values_of(T, n), values_of(T, n)))
case(choose_by_what_is_written!, (T, n) -> (ones(T, n), values_of(T, n), T[]))
case(choose_by_what_is_written!, (T, n) -> (ones(T, n), T[], values_of(T, n)))
case(copy_where_data_says!, (T, n) -> (zeros(T, 3), values_of(T, n)))
case(copy_where_data_says!, (T, n) -> (zeros(T, 3), -ones(T, n)))

# Every path that gets to a use has assigned the variable.
@tessella function assigned_or_left(u, i)
    if i > 2
        l = u[i-1]
    else
        i == 1 && return zero(eltype(u))
        l = u[i]
    end
    return 2l
end
case(assigned_or_left, (T, n) -> (values_of(T, n + 2), n))
case(assigned_or_left, (T, n) -> (values_of(T, n), 1))

@tessella function assigned_or_skipped!(y, x)
    for i in eachindex(x)
        if x[i] > 0
            a = x[i]
        elseif x[i] < -one(x[i]) / 2
            continue
        else
            i == 4 && break
            a = -x[i]
            b = a
        end
        y[i] = a + 1
    end
    return nothing
end
case(assigned_or_skipped!, (T, n) -> (zeros(T, n), values_of(T, n)))

@tessella function assigned_or_returned(x)
    total = zero(eltype(x))
    for i in eachindex(x)
        if x[i] >= 0
            v = x[i]
        else
            i > 5 && return total, i
            v = -2x[i]
        end
        for j in 1:2
            w = v + j
            if w > 2
                total > 3 && return total, j
                s = w
            else
                s = one(w)
            end
            total += s
        end
    end
    return total, 0
end
case(assigned_or_returned, (T, n) -> (values_of(T, n),))

side_value(u, i) = left_value(u, i) / 2
function left_value(u, i)
    if i > 1
        l = u[i-1]
    else
        length(u) > 2 && return u[end]
        l = u[1]
    end
    return l + 1
end
@tessella function assigned_in_helpers!(y, u)
    for i in eachindex(u)
        y[i] = side_value(u, i)
    end
    return nothing
end
case(assigned_in_helpers!, (T, n) -> (zeros(T, n), values_of(T, n)))
