@tessella function binarize!(B, A, limit)
    for i in 1:length(A)
        if A[i] > limit
            level = 1.0
        end
        B[i] = level
    end
end

#: title A value that only one branch sets
#: why Where `A[i]` is not above the limit, `level` has no value, and Julia would raise `UndefVarError`.
#: fix Write `level = A[i] > limit ? 1.0 : 0.0`, or set it before the `if`.
