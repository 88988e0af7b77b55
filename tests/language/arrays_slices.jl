# Parts of arrays on either side.

@tessella function slice_columns!(B, A)
    for j in 1:size(A, 2)
        B[:, j] .= A[:, j] .* j
    end
end
case(slice_columns!, (T, n) -> (values_of(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function slice_rows!(B, A)
    for i in 1:size(A, 1)
        B[i, :] = A[i, :]
    end
end
case(slice_rows!, (T, n) -> (values_of(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function slice_inner!(B, A)
    m, n = size(A)
    B[2:end-1, 2:n-1] .= (A[1:end-2, 2:n-1] .+ A[3:end, 2:n-1]) ./ 2
    return nothing
end
case(slice_inner!, (T, n) -> (values_of(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function slice_steps!(B, A)
    B[1:2:end] .= A[end:-2:1]
    return nothing
end
case(slice_steps!, (T, n) -> (values_of(T, n), values_of(T, n)))

@tessella function slice_views!(B, A)
    for j in axes(A, 2)
        a = view(A, :, j)
        b = @view B[:, j]
        b .= 2 .* a
        for i in eachindex(b)
            b[i] += a[i]
        end
    end
end
case(slice_views!, (T, n) -> (values_of(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function slice_views_macro!(B, A)
    @views B[:, 1:1] .= A[:, 1:1] .+ 1
    x = @views A[2:end, 1]
    x[1] = 5
    return length(x)
end
case(slice_views_macro!, (T, n) -> (values_of(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function slice_copies!(A)
    x = A[:, 1]
    A[:, 1] .= 7
    A[:, 2] .= x
    return nothing
end
case(slice_copies!, (T, n) -> (values_of(T, n, 2),))

@tessella function slice_swap!(A)
    A[:, 1], A[:, 2] = A[:, 2], A[:, 1]
    return nothing
end
case(slice_swap!, (T, n) -> (values_of(T, n, 2),))

@tessella function slice_outside!(A)
    x = view(A, 1:length(A)-1)
    for i in 1:2
        x[i] = 0
    end
    return nothing
end
case(slice_outside!, (T, n) -> (values_of(T, n),))

@tessella function slice_all!(B, A)
    B[:] .= 1
    B[:] = A[:]
    return sum(A[:])
end
case(slice_all!, (T, n) -> (values_of(T, n, n), values_of(T, n, n)))

@tessella function slice_mismatch!(B, A)
    B[1:end] = A[3:end]
    return nothing
end
case(slice_mismatch!, (T, n) -> (values_of(T, n), values_of(T, 2n)))

@tessella function slice_update!(A)
    for k in 1:size(A, 1)-1
        A[k+1:end, k] ./= 3
        for j in k+1:size(A, 2)
            A[k+1:end, j] .-= A[k+1:end, k] .* A[k, j]
        end
    end
end
case(slice_update!, (T, n) -> (values_of(T, n, n),))

@tessella function slice_three!(B, A)
    for k in 1:size(A, 3)
        B[:, :, k] .= A[:, :, end-k+1]
    end
end
case(slice_three!, (T, n) -> (values_of(T, n, 2, n), values_of(T, n, 2, n)))

@tessella function slice_fill!(B, A)
    fill!(B, 3)
    copyto!(B, A)
    fill!(view(B, 1:1), 0)
    return B
end
case(slice_fill!, (T, n) -> (values_of(T, n + 1), values_of(T, n)))
