# Tables of numbers inside of functions, which are constants where nothing but reads them.

@tessella function table_of_places!(g, f)
    m, n, _ = size(f)
    opposite = [1, 4, 5, 2, 3]
    for j in 1:n, i in 1:m
        for q in 1:5
            g[i, j, q] = f[i, j, opposite[q]]
        end
    end
    return nothing
end
case(table_of_places!, (T, n) -> (zeros(T, n, 3, 5), values_of(T, n, 3, 5)))

# The place in the table is data.
@tessella function table_by_data!(y, x, k)
    steps = [-1, 0, 1]
    for i in 2:length(x)-1
        y[i] = x[i+steps[k[i]]]
    end
    return nothing
end
case(table_by_data!, (T, n) -> (zeros(T, n), values_of(T, n), [mod1(7k, 3) for k in 1:n]))
case(table_by_data!, (T, n) -> (zeros(T, n), values_of(T, n), [mod1(7k, 4) for k in 1:n]))

@tessella function table_of_weights!(y, x)
    w = [4/9, 1/9, -1/36]
    narrow = Float32[0.1, 1/3, -0.0]
    for i in 2:length(x)-1
        for k in eachindex(w)
            y[i] += w[k] * x[i+k-2]
        end
        y[i] = copysign(y[i] * narrow[mod1(i, 3)], narrow[3]) + w[mod1(i, length(w))]
    end
    return nothing
end
case(table_of_weights!, (T, n) -> (zeros(T, n), values_of(T, n)))

@tessella function table_in_two!(y, x)
    sharpen = [0 -1 0; -1 5 -1; 0 -1 0]
    turned = [1 2; 3 4.5]
    m, n = size(x)
    for j in 2:n-1, i in 2:m-1
        s = zero(eltype(x))
        for b in axes(sharpen, 2), a in 1:size(sharpen, 1)
            s += sharpen[a, b] * x[i+a-2, j+b-2]
        end
        y[i, j] = s - turned[mod1(i, 2), 2]
    end
    return nothing
end
case(table_in_two!, (T, n) -> (zeros(T, n, 5), values_of(T, n, 5)))

# In a loop and in a branch; known numbers of the function may be elements.
@tessella function tables_in_blocks!(y, x)
    most = 3
    for i in eachindex(x)
        w = [1, most, 2most]
        if x[i] > 0
            v = [0.5, 0.25]
            y[i] = v[mod1(i, 2)] * w[mod1(i, 3)]
        else
            v = [1, 2]
            y[i] = v[mod1(i, 2)] - sum(w)
        end
    end
    return nothing
end
case(tables_in_blocks!, (T, n) -> (zeros(T, n), values_of(T, n)))

table_of_others(x, k) = (w = [0.5, 0.25, 2]; x * w[k])
@tessella function tables_of_others!(y, x)
    w = [3, 1, 2]
    for i in eachindex(x)
        k = w[mod1(i, 3)]
        y[i] = table_of_others(x[i], k) + w[k]
    end
    return nothing
end
case(tables_of_others!, (T, n) -> (zeros(T, n), values_of(T, n)))

@tessella function table_as_a_whole(x)
    w = [1.5, -2, 0.25]
    total = zero(eltype(x))
    for v in w
        total += v
    end
    for (k, v) in enumerate(w)
        total += k * v
    end
    changed = copy(w)
    changed[1] = length(x)
    return total, x .* w[2], w .+ 1, maximum(w), changed, sum(v for v in w), w[2:3], map(v -> 2v, w)
end
case(table_as_a_whole, (T, n) -> (values_of(T, n),); types = [Float64])

# These are arrays like any other: stored into, under another name, given back, passed on, one of several.
@tessella function table_stored_into!(y)
    w = [1, 2, 3]
    for i in eachindex(y)
        y[i] = w[mod1(i, 3)]
        w[mod1(i, 3)] += i
    end
    return nothing
end
case(table_stored_into!, (T, n) -> (zeros(T, n),))

@tessella function table_under_two_names!(y)
    w = [1.0, 2.0, 3.0]
    v = w
    v[2] = length(y)
    u = [1, 2, 3]
    @views part = u[2:3]
    part[1] = 7
    for i in eachindex(y)
        y[i] = w[mod1(i, 3)] + u[mod1(i, 3)]
    end
    return nothing
end
case(table_under_two_names!, (T, n) -> (zeros(T, n),))

@tessella function table_given_back(x)
    w = [1, 2, 3]
    s = w[2]
    for i in eachindex(x)
        s += w[mod1(i, 3)]
    end
    return s, w
end
case(table_given_back, (T, n) -> (values_of(T, n),))

function counted_up!(w)
    w[1] += 1
    return nothing
end
@tessella function table_passed_on!(y)
    w = [0, 5]
    for i in eachindex(y)
        counted_up!(w)
        y[i] = w[mod1(i, 2)]
    end
    return nothing
end
case(table_passed_on!, (T, n) -> (zeros(T, n),))

@tessella function table_assigned_again!(y)
    w = [1, 2]
    for i in eachindex(y)
        y[i] = w[mod1(i, 2)]
    end
    w = [3, 4]
    for i in eachindex(y)
        y[i] += w[mod1(i, 2)]
    end
    return nothing
end
case(table_assigned_again!, (T, n) -> (zeros(T, n),))

@tessella function table_turned!(y)
    w = [1.0, 2.0]
    t = w'
    t[1] = 9
    fill!(w, length(y) + t[1])
    for i in eachindex(y)
        y[i] = w[mod1(i, 2)]
    end
    return nothing
end
case(table_turned!, (T, n) -> (zeros(T, n),))

@tessella function table_of_variables!(y, a)
    w = [a, 2a, 1]
    for i in eachindex(y)
        y[i] = w[mod1(i, 3)]
    end
    return nothing
end
case(table_of_variables!, (T, n) -> (zeros(T, n), T(n) / 2))

# `π` has the precision of what stands beside it.
@tessella function table_of_angles(x)
    w = [1f0, π]
    v = [2, π]
    u = Float32[π, ℯ, 1]
    return w[2], v[2], u[1] * x[1], [x[1], π], [π x[1]; 1 2], Float64[π, 2]
end
case(table_of_angles, (T, n) -> (values_of(T, n + 1),); types = [Float64])

@tessella angles_beside(x) = [x[1], π], [π x[1]; x[1] 2x[1]], [2, 1, π]
case(angles_beside, (T, n) -> (values_of(T, n + 1),))
