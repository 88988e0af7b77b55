# Names exchanged between arrays of complex numbers, and between arrays that the function makes.

@tessella function swap_complex!(A, B, steps)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            B[i] = 0.5 * (A[i-1] + A[i+1]) * im
        end
        A, B = B, A
    end
    return nothing
end
for steps in (3, 4)
    case(swap_complex!, (T, n) -> (Complex{T}.(values_of(T, n)), zeros(Complex{T}, n), steps))
end

@tessella function swap_complex_lines!(A, B, steps)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            B[i] = 0.5 * (A[i-1] + A[i+1]) * im
        end
        other = A
        A = B
        B = other
    end
    return A
end
for steps in (3, 4)
    case(swap_complex_lines!, (T, n) -> (Complex{T}.(values_of(T, n)), zeros(Complex{T}, n), steps))
end

@tessella function three_complex!(u0, u1, u2, steps)
    n = length(u0)
    for t in 1:steps
        for i in 2:n-1
            u2[i] = 2u1[i] - u0[i] + 0.1 * (u1[i-1] - 2u1[i] + u1[i+1])
        end
        u0, u1, u2 = u1, u2, u0
    end
    return nothing
end
for steps in 1:3
    case(three_complex!, (T, n) -> (Complex{T}.(values_of(T, n)), Complex{T}.(values_of(T, n)), zeros(Complex{T}, n), steps))
end

@tessella function swap_local(x, steps)
    n = length(x)
    A = copy(x)
    B = copy(x)
    for t in 1:steps
        for i in 2:n-1
            B[i] = 0.5 * (A[i-1] + A[i+1])
        end
        A, B = B, A
    end
    return A
end
for steps in (4, 5)
    case(swap_local, (T, n) -> (values_of(T, n), steps))
end

@tessella function swap_with_argument!(A, steps)
    n = length(A)
    B = similar(A)
    B .= A
    for t in 1:steps
        for i in 2:n-1
            B[i] = 0.5 * (A[i-1] + A[i+1])
        end
        A, B = B, A
    end
    return A
end
for steps in (4, 5)
    case(swap_with_argument!, (T, n) -> (values_of(T, n), steps))
end

@tessella function three_local(x, steps)
    n = length(x)
    u0, u1, u2 = copy(x), copy(x), zeros(eltype(x), n)
    for t in 1:steps
        for i in 2:n-1
            u2[i] = 2u1[i] - u0[i] + 0.1 * (u1[i-1] - 2u1[i] + u1[i+1])
        end
        u0, u1, u2 = u1, u2, u0
    end
    return u1
end
for steps in 5:7
    case(three_local, (T, n) -> (values_of(T, n), steps))
end
