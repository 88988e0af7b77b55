# `while` with a counter.

@tessella function while_up!(B, A)
    i = 1
    n = length(A)
    while i <= n
        B[i] = 2A[i]
        i += 1
    end
    return i
end

@tessella function while_down_by_two!(B, A)
    i = length(A)
    while i >= 1
        B[i] = i * A[i]
        i -= 2
    end
    return i
end

@tessella function while_stepping_first!(B, A)
    i = 0
    while i < length(A)
        i = i + 1
        B[i] = A[i] + i
    end
    return i
end

@tessella function while_nested!(B, A)
    i = 1
    while i <= size(A, 1)
        j = i
        while j < size(A, 2)
            B[i, j] = A[j, i]
            j += 3
        end
        i += 1
    end
    return nothing
end

@tessella function while_data_goes_on(A)
    i = 1
    s = zero(eltype(A))
    while i <= length(A) && A[i] < 0.9
        s += A[i]
        i += 1
    end
    return s + i
end

@tessella function while_with_break!(B, A)
    i = 1
    while i <= length(A)
        A[i] > 0.9 && break
        B[i] = 1
        i += 1
    end
    return i
end

@tessella function while_with_continue!(B, A)
    i = 1
    while i <= length(A)
        if A[i] < 0
            i += 1
            continue
        end
        B[i] = 1
        i += 1
    end
    return nothing
end

@tessella function while_twice!(B, A)
    i = 1
    while i < 3 && i <= length(A)
        B[i] = 7
        i += 1
    end
    while i <= length(A)
        B[i] = 9
        i += 1
    end
    return nothing
end

@tessella function while_read_by_closure(n)
    i = 1
    twice() = 2i
    s = 0
    while i <= n
        s += twice()
        i += 1
    end
    return s + twice()
end

@tessella function while_until_closure(n)
    most = n
    i = 1
    lower() = begin
        most -= 1
        nothing
    end
    while i <= n && i <= most
        lower()
        i += 1
    end
    s = 0
    for k in 1:10
        s += 1
        k > most && break
        lower()
    end
    return i, most, s
end

pair(T, n) = (zeros(T, n), values_of(T, n))
for f in (while_up!, while_down_by_two!, while_stepping_first!, while_with_break!, while_with_continue!, while_twice!)
    case(f, pair)
end
case(while_read_by_closure, (T, n) -> (n,))
case(while_until_closure, (T, n) -> (n,))
case(while_nested!, (T, n) -> (zeros(T, n, n), values_of(T, n, n)))
case(while_data_goes_on, (T, n) -> (values_of(T, n),))
