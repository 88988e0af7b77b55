# What leaves an array raises where the part is made or the element is read, whatever is done with it.
@tessella first_of_view(x, k) = (a = view(x, 1:k); a[1])

@tessella function stored_but_last!(x, k)
    a = @view x[1:k]
    for i in 1:length(a)-1
        a[i] = i
    end
    return nothing
end

@tessella function part_of_part!(x, k)
    @views x[1:2] .= x[1:k][1:2]
    return nothing
end

@tessella function view_of_view!(x, y, k)
    a = @view x[2:k]
    b = @view a[1:end-1]
    for i in eachindex(b)
        b[i] = y[i]
    end
end

@tessella function windows!(y, x, k)
    for i in 1:k
        a = view(x, i:i+1)
        y[i] = a[1]
    end
end

@tessella function windows_where!(y, x, k)
    for i in 1:k
        if x[i] > 0
            a = view(x, i:i+1)
            y[i] = a[1]
        end
    end
end

# The condition depends on what the function writes.
@tessella function windows_after!(y, x, k)
    for i in 1:k
        y[i] = x[i] + 1
        if y[i] > 1
            a = view(x, i:i+1)
            y[i] = a[1]
        end
    end
end

@tessella function column_never_read!(A, k)
    c = @view A[:, k]
    for i in 1:k-1
        c[1] += i
    end
    return nothing
end

@tessella function view_of_local(k)
    y = zeros(k)
    y .= 2
    z = view(y, 1:k+1)
    y[1] = 3
    return y
end

@tessella function dropped_part_of_local(k)
    y = zeros(k)
    y[1:k+1]
    return y
end

@tessella empty_parts(x, k) = length(view(x, 5:4)), sum(@view x[k:k-1]), length(x[9:2:8])

@tessella reversed(x, k) = (a = @view x[k:-1:1]; a[1])

@tessella function only_if(x, k)
    s = 0.0
    if k > 2
        a = view(x, 1:k+1)
        s += a[1]
    end
    return s
end

@tessella chosen_window(x, k) = k > 2 ? length(view(x, 1:k)) : 0

head(a) = a[1]

@tessella head_of_parts(x, k) = head(view(x, 1:k)) + head(x[1:k])

@tessella lengths(x, k) = length(view(x, 1:k)), length(x[2:k])

@tessella shapes(A, k) = size(A[:, 1:k]), size(view(A, k, :), 1)

# The range is computed, so that instances are looked for.
@tessella function blocks!(y, x, w, k)
    for i in 1:k
        a = view(x, (i-1)*w+1:i*w)
        y[i] = a[1]
    end
end

@tessella function unchecked_part!(x, k)
    @inbounds a = view(x, 1:k)
    @inbounds for i in 1:min(k, length(x))
        a[i] = i
    end
end

for d in (-1, 0, 1)
    case(first_of_view, (T, n) -> (values_of(T, n), n + d))
    case(stored_but_last!, (T, n) -> (values_of(T, n), n + d))
    case(part_of_part!, (T, n) -> (values_of(T, n), n + d))
    case(view_of_view!, (T, n) -> (values_of(T, n), values_of(T, n), n + d))
    case(windows!, (T, n) -> (zeros(T, n), values_of(T, n), n + d))
    case(windows_where!, (T, n) -> (zeros(T, n), values_of(T, n), n + d))
    case(windows_after!, (T, n) -> (zeros(T, n), values_of(T, n), n + d))
    case(column_never_read!, (T, n) -> (values_of(T, n, n), n + d))
    case(view_of_local, (T, n) -> (n + d,); types = [Float64])
    case(dropped_part_of_local, (T, n) -> (n + d,); types = [Float64])
    case(empty_parts, (T, n) -> (values_of(T, n), n + d))
    case(reversed, (T, n) -> (values_of(T, n), n + d))
    case(only_if, (T, n) -> (values_of(Float64, n), n + d); types = [Float64])
    case(chosen_window, (T, n) -> (values_of(T, n), n + d))
    case(head_of_parts, (T, n) -> (values_of(T, n), n + d))
    case(lengths, (T, n) -> (values_of(T, n), n + d))
    case(shapes, (T, n) -> (values_of(T, n, n), n + d))
    case(blocks!, (T, n) -> (zeros(T, n + 1), values_of(T, 2n), 2, n + d))
    case(unchecked_part!, (T, n) -> (values_of(T, n), n + d); types = [Float64])
end

# Reads of which only the type is used, or nothing.
@tessella zero_of_first(x) = zero(x[1])
@tessella one_of_last(x) = one(x[end]) + 1
@tessella type_of_second(x) = typemax(typeof(x[2])) - typemax(x[2])
@tessella like_first(x) = oftype(x[1], 3), convert(typeof(x[2]), 2)
@tessella type_of_elements(x) = eltype(x)(3)
@tessella read_and_dropped(x) = (x[3]; 1)
@tessella computed_and_dropped(x) = (x[3] * 0; 1)
@tessella chosen_and_dropped(x) = (length(x) > 2 && x[3] > 0; 1)
@tessella function zeros_like!(x, y)
    for i in eachindex(x)
        x[i] = zero(y[i])
    end
end
@tessella function next_dropped!(x, y)
    for i in 1:length(x)
        y[i+1]
        x[i] = 1
    end
end
@tessella other_of_tuple(x) = (x[1], x[2])[1]
@tessella element_of_all(x) = [x[i] for i in 1:3][1]
@tessella element_of_sum(x, y) = (x .+ y[1])[1] + (y .÷ x[2])[1]
@tessella closure_dropped(x) = (f(i) = x[i]; f(3); 1)

for f in (zero_of_first, one_of_last, type_of_second, like_first, type_of_elements, read_and_dropped, computed_and_dropped,
          chosen_and_dropped, other_of_tuple, element_of_all, closure_dropped)
    case(f, (T, n) -> (values_of(T, n),))
end
case(element_of_sum, (T, n) -> (values_of(T, n), values_of(T, n)); types = [Int])
for d in (-1, 0, 1)
    case(zeros_like!, (T, n) -> (values_of(T, n), values_of(T, max(0, n + d))))
    case(next_dropped!, (T, n) -> (values_of(T, n), values_of(T, max(0, n + d))))
end

# `any` and `all` stop where it is decided.
@tessella any_above(x, k) = any(x[i] > 0 for i in 1:k)
@tessella all_below(x, k) = all(x[i] < 1 for i in 1:k)
@tessella all_by_function(x, k) = all(i -> x[i] < 0.5, 1:k)
@tessella any_quotient(k) = any(k ÷ i == 0 for i in 2:-1:0)
@tessella any_guarded(x, k) = any(i > length(x) ? false : x[i] > 0.9 for i in 1:k)
@tessella any_and(x, k) = any(i < k && x[i+1] > 0.5 for i in 1:k)
@tessella any_of_sums(x, k) = any(sum(x[j] for j in 1:i) > 0.5 for i in 1:k)
@tessella any_of_slices(x, k) = any(x[1:k] .> 0.5)
@tessella any_inside(x) = any(x[i] > x[i+1] for i in 1:length(x)-1), any(isnan, x), all(v -> v < 2, x)
@tessella function any_where!(y, x, k)
    for i in eachindex(y)
        y[i] > 0 && (y[i] = any(x[j] > 0.5 for j in i:k) ? 1 : 2)
    end
end

# What may raise behind the element that decides is left to the original function.
const LEFT = [:c]

for d in (-1, 0, 1, 2)
    for f in (any_above, all_below, all_by_function)
        case(f, (T, n) -> (values_of(T, n), n + d); targets = LEFT)
    end
    case(any_and, (T, n) -> (values_of(T, n), n + d); types = [Float64], targets = LEFT)
    case(any_guarded, (T, n) -> (values_of(T, n), n + d))
    case(any_of_slices, (T, n) -> (values_of(T, n), n + d))
    case(any_where!, (T, n) -> (values_of(T, n), values_of(T, n), n + d); types = [Float64], targets = LEFT)
end
case(any_quotient, (T, n) -> (n,); types = [Float64], targets = LEFT)
case(any_of_sums, (T, n) -> (values_of(T, n), n); types = [Float64])
case(any_inside, (T, n) -> (values_of(T, n),))

# An axis that happens to have one element is stretched.
@tessella function added_part!(A, B, k)
    A .+= B[k:k+1]
    return nothing
end
@tessella added_first!(A) = (A .+= A[1:1]; nothing)
@tessella every_second!(x) = (x[1:2:end] .= x[2:2:end]; nothing)
@tessella sum_of_shapes(A, B) = A .+ B
@tessella assigned_part!(y, x, k) = (y .= x[1:k]; nothing)

for k in (0, 1, 3)
    case(assigned_part!, (T, n) -> (values_of(T, n), values_of(T, 3), k); targets = LEFT)
    case(added_part!, (T, n) -> (values_of(T, n), values_of(T, 3), k); types = [Float64])
    case(sum_of_shapes, (T, n) -> (values_of(T, n, k), values_of(T, 1, 2)); types = [Float64], targets = LEFT)
    case(sum_of_shapes, (T, n) -> (values_of(T, 1, n), values_of(T, k, 1)); types = [Float64], targets = LEFT)
end
case(added_first!, (T, n) -> (values_of(T, n),))
case(every_second!, (T, n) -> (values_of(T, n),); targets = LEFT)
