# Ranges of places: `CartesianIndices` that has a name, its ends, and ranges from one place to another.

@tessella function doubled_in_places!(out, A)
    R = CartesianIndices(A)
    for I in R
        out[I] = 2A[I]
    end
end

"The mean of each element's neighbours, whatever the dimensions: a moving average from Julia's blog."
@tessella function averaged_boxes!(out, A, r)
    R = CartesianIndices(A)
    first_place, last_place = first(R), last(R)
    Δ = r * oneunit(first_place)
    for I in R
        n, s = 0, zero(eltype(out))
        for J in max(first_place, I - Δ):min(I + Δ, last_place)
            s += A[J]
            n += 1
        end
        out[I] = s / n
    end
end

@tessella function summed_between(A, i, j)
    s = zero(eltype(A))
    for I in CartesianIndex(1, i):CartesianIndex(size(A, 1), j)
        s += A[I]
    end
    return s
end

@tessella function summed_inside(A)
    s = zero(eltype(A))
    inside = CartesianIndices((2:size(A, 1)-1, 2:size(A, 2)-1))
    shift = CartesianIndex(1, 0)
    for I in inside
        s += A[I+shift] - A[I-shift]
    end
    return s + A[first(inside)]
end

case(doubled_in_places!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n, n + 1)))
case(averaged_boxes!, (T, n) -> (zeros(T, n), values_of(T, n), 2))
case(averaged_boxes!, (T, n) -> (zeros(T, n, 4), values_of(T, n, 4), 1))
case(averaged_boxes!, (T, n) -> (zeros(T, n, 2, 3), values_of(T, n, 2, 3), n))
case(summed_between, (T, n) -> (values_of(T, n, n), 2, n))
case(summed_between, (T, n) -> (values_of(T, n, n), 2, n + 1))
case(summed_inside, (T, n) -> (values_of(T, n, n + 1),))
