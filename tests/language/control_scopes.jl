# Blocks, scopes, shadowing, variables assigned again.

@tessella function value_of_if!(B, A)
    for i in 1:length(A)
        B[i] = if A[i] > 0
            x = 2A[i]
            x * x
        elseif A[i] < -0.5
            -A[i]
        else
            A[i] + 1
        end
    end
    return nothing
end

@tessella function value_of_block!(B, A)
    for i in 1:length(A)
        y = begin
            x = A[i] + 1
            x * x
        end
        z = let x = y + 1, w = x
            w - x
        end
        B[i] = y + z
    end
    return nothing
end

@tessella function let_shadows!(B, A)
    x = one(eltype(A))
    for i in 1:length(A)
        let x = A[i]
            x += 1
            B[i] = x
        end
        B[i] += x
    end
    return x
end

@tessella function assigned_again!(B, A)
    n = length(A)
    n = n - 1
    x = A[1]
    x = 2x
    for i in 1:n
        x = x + A[i]
        B[i] = x
    end
    x = x + 1
    return x
end

@tessella function another_type_later(A)
    x = length(A)
    s = x + 1
    x = A[1] / 2
    return x + s
end

@tessella function iterator_assigned!(B, A)
    i = 5
    for i in 1:length(A)
        B[i] = A[i]
        i = i + 1
        B[1] = i
    end
    return i
end

@tessella function inner_and_outer!(B, A)
    x = zero(eltype(A))
    for i in 1:length(A)
        local x
        x = A[i]
        B[i] = x
    end
    for i in 1:length(A)
        x = A[i]
    end
    return x
end

@tessella function closures!(B, A, a)
    f(x) = a * x + 1
    g = x -> f(x) - x
    for i in 1:length(A)
        B[i] = g(A[i])
    end
    return nothing
end

@tessella function strided_by_constant!(B, A)
    step = 3
    for i in 1:step:length(A)
        B[i] = A[i]
    end
    return nothing
end

@tessella function tuples!(B, A)
    for i in 1:length(A)
        t = (A[i], i, 2A[i])
        a, b = t[1], t[3]
        a, b = b, a
        c = d = a - b
        B[i] = a + d * t[2] + c
    end
    return nothing
end

some(T, n) = (zeros(T, n + 1), values_of(T, n + 1))
for f in (value_of_if!, value_of_block!, let_shadows!, assigned_again!, iterator_assigned!, inner_and_outer!,
          strided_by_constant!, tuples!)
    case(f, some)
end
case(another_type_later, (T, n) -> (values_of(T, n + 1),))
case(closures!, (T, n) -> (some(T, n)..., T(3)))

# Variables assigned on both sides of an `if` that is a value.
@tessella function assigned_on_both_sides!(A)
    for i in 1:length(A)
        x = if A[i] > 0
            t = A[i]
            2t
        else
            t = -A[i]
            t
        end
        y = A[i] > 0.5 ? (u = 1; t) : (u = 2; x)
        A[i] = x + t + u * y
    end
end
case(assigned_on_both_sides!, (T, n) -> (values_of(T, n),))
