# Edges that get what their neighbours hold, slice by slice, and arrays that each step of a loop over time makes anew.

@tessella function insulated_edges!(u)
    m, n = size(u)
    u[1, :] .= u[2, :]
    u[m, :] .= u[m-1, :]
    u[:, 1] .= u[:, 2]
    u[:, end] .= u[:, end-1] .+ u[:, n-1]
    return u
end

case(insulated_edges!, (T, n) -> (values_of(T, n + 2, n + 3),))

# What is read is written, or may be.
@tessella function shifted_rows!(u, a, b)
    m = size(u, 1)
    u[a, :] .= u[b, :] .+ u[a+1, :]
    u[a+b-b, 2:end] .= u[a+1-1, 1:end-1]
    u[m, 1:end-1] .= u[m, 2:end]
    return u
end

case(shifted_rows!, (T, n) -> (values_of(T, n + 3, n + 1), 1, 2))
case(shifted_rows!, (T, n) -> (values_of(T, n + 3, n + 1), 2, 2))

# A view stays where it was while the number that it was made with goes on.
@tessella function walking_rows!(u)
    m = size(u, 1)
    k = m
    v = view(u, k - 1, :)
    for t in 1:2
        k = k - 1
        u[k, :] .= v
        u[k, 2:end] .= v[1:end-1]
    end
    return u
end

case(walking_rows!, (T, n) -> (values_of(T, n + 3, n + 1),))

# Each step begins with a copy of the field.
@tessella function copied_steps!(u, c, steps)
    m, n = size(u)
    for t in 1:steps
        un = copy(u)
        for j in 2:n-1, i in 2:m-1
            u[i, j] = un[i, j] + c * (un[i-1, j] + un[i+1, j] + un[i, j-1] + un[i, j+1] - 4un[i, j])
        end
        u[1, :] .= u[2, :]
        u[m, :] .= u[m-1, :]
        u[:, 1] .= u[:, 2]
        u[:, n] .= u[:, n-1]
    end
    return u
end

case(copied_steps!, (T, n) -> (values_of(T, n + 2, n + 3), T(1 // 4), 5); types = [Float64, Float32])
case(copied_steps!, (T, n) -> (values_of(T, n + 2, n + 3), T(1 // 4), 0); types = [Float64, Float32])

# Arrays of each row, of which those of one step are shared and those of the rows are not.
@tessella function relaxed_rows!(u, steps)
    m, n = size(u)
    for j in 1:n
        for t in 1:steps
            w = zeros(eltype(u), m)
            for i in 1:m
                w[i] = u[i, j]
            end
            for i in 2:m-1
                u[i, j] = w[i-1] + w[i+1]
            end
        end
    end
    return u
end

case(relaxed_rows!, (T, n) -> (values_of(T, n, n + 2), 3))

# Steps whose array takes in what the step before left, and a sum that goes on.
@tessella function smoothed_sums(x, steps)
    y = copy(x)
    total = zero(eltype(x))
    for t in 1:steps
        z = similar(y)
        for i in eachindex(y)
            z[i] = y[i] + (i > 1 ? y[i-1] : total)
        end
        total = zero(eltype(x))
        for i in eachindex(y)
            total += z[i]
            y[i] = z[i]
        end
    end
    return total, y
end

case(smoothed_sums, (T, n) -> (values_of(T, n), 4); types = [Int64, Int32])

# No step needs another one's: each has an array of its own.
@tessella function columns_by_copies!(u)
    for j in axes(u, 2)
        w = copy(u[:, j])
        for i in 2:length(w)
            u[i, j] = w[i] - w[i-1]
        end
    end
    return u
end

case(columns_by_copies!, (T, n) -> (values_of(T, n, n + 2),))
