# Arrays made inside the function.

@tessella function local_zeros!(B, A)
    n = length(A)
    x = zeros(n)
    for i in 1:n
        x[i] = A[i] / 3
    end
    for i in 1:n
        B[i] = x[n - i + 1]
    end
end
case(local_zeros!, (T, n) -> (values_of(T, n), values_of(T, n)))

@tessella function local_makers!(B, A)
    m, n = size(A)
    x = ones(eltype(A), m)
    y = fill(A[1, 1], n)
    z = similar(A)
    w = Array{Float64}(undef, m, n)
    v = Vector{Float32}(undef, n)
    z .= x .* y' .+ A
    w .= 2 .* z
    v .= 0.5f0
    B .= w .- v' .+ zero(A)
    return nothing
end
case(local_makers!, (T, n) -> (values_of(Float64, n, n + 1), values_of(T, n, n + 1)))

@tessella function local_sizes!(B, A)
    t = zeros(eltype(A), size(A, 2), size(A, 1) + 1)
    for j in axes(t, 2), i in axes(t, 1)
        t[i, j] = i + 10j
    end
    B[1] = length(t) + size(t, 1) * 100 + t[end, end]
    return ndims(t)
end
case(local_sizes!, (T, n) -> (values_of(T, 2), values_of(T, n + 1, n + 1)))

@tessella function local_copy!(A)
    old = copy(A)
    for i in 2:length(A)-1
        A[i] = old[i-1] + old[i+1]
    end
    return A
end
case(local_copy!, (T, n) -> (values_of(T, n),))

@tessella function local_in_loop!(B, A)
    for j in 1:size(A, 2)
        t = A[:, j] .* 2
        s = zero(eltype(A))
        for i in eachindex(t)
            s += t[i]
            t[i] = s
        end
        B[:, j] .= t
    end
end
case(local_in_loop!, (T, n) -> (values_of(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function local_in_time_loop!(A, steps)
    for t in 1:steps
        new = similar(A)
        new .= A
        for i in 2:length(A)-1
            new[i] = (A[i-1] + A[i+1]) / 2
        end
        A .= new
    end
end
case(local_in_time_loop!, (T, n) -> (values_of(T, n), 4))

@tessella function local_triangle!(B)
    for i in 1:length(B)
        t = zeros(eltype(B), i)
        for k in 1:i
            t[k] = k * B[i]
        end
        B[i] = t[i] - t[1]
    end
end
case(local_triangle!, (T, n) -> (values_of(T, n),))

@tessella function local_negative!(A, n)
    x = zeros(n)
    A .= length(x)
    return nothing
end
case(local_negative!, (T, n) -> (values_of(T, n), n - 2))

@tessella function local_outside!(A)
    x = zeros(3)
    for i in 1:length(A)
        x[i] = A[i]
    end
    A .= sum(x)
    return nothing
end
case(local_outside!, (T, n) -> (values_of(T, n),))

@tessella function local_comprehensions!(B, A)
    x = [A[i] * i for i in 1:length(A)]
    C = [i + 2j for i in 1:length(A), j in 1:3]
    z = [v / 2 for v in x]
    B .= x .+ C[:, 2] .+ z
    return nothing
end
case(local_comprehensions!, (T, n) -> (values_of(T, n), values_of(T, n)))

@tessella function local_literal!(B)
    w = [0.25, 0.5, 0.25]
    M = [1 2; 3 4]
    for i in 2:length(B)-1
        s = 0.0
        for k in 1:3
            s += w[k] * B[i + k - 2]
        end
        B[i] = s + M[2, 1]
    end
end
case(local_literal!, (T, n) -> (values_of(T, n),))

@tessella function local_under_condition!(A, flag)
    if flag
        t = A .+ 1
        A .= t .* 2
    end
    return nothing
end
case(local_under_condition!, (T, n) -> (values_of(T, n), isodd(n)))

@tessella function local_typed_literals(x::Vector{T}) where {T}
    c = T[-3, 12, 17] / 35
    e = T[i^2 for i in 1:3]
    d = Float64[]
    return c .* e .+ length(d), c
end

case(local_typed_literals, (T, n) -> (values_of(T, n),))

@tessella function branches_of_two_types!(A)
    for i in eachindex(A)
        A[i] = A[i] < 0 ? 0 : A[i] > 0.5 ? i : 2.0 * A[i]
    end
end

case(branches_of_two_types!, (T, n) -> (values_of(T, n),))
