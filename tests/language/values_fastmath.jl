# `@fastmath`, `@simd`, `@inbounds` and `muladd` allow what they say, and nothing else. The numbers here are such that
# every order of the additions gives the same sum.

@tessella function fastmath_of_a_part!(B, A)
    for i in 1:length(A)
        B[i] = A[i] + @fastmath(A[i] * 2 + 1)
    end
    return nothing
end

@tessella function simd_sum(A)
    s = zero(eltype(A))
    @inbounds @simd for i in 1:length(A)
        s += A[i]
    end
    return s
end

@tessella function inbounds_of_a_block!(B, A)
    @inbounds begin
        for i in 1:length(A)
            B[i] = A[i]
        end
        if length(A) > 1
            B[1] = 2
        end
    end
    return nothing
end

@tessella function outside_without_inbounds!(B, A)
    for i in 1:length(A)
        B[i+1] = A[i]
    end
    return nothing
end

exact(T, n) = (zeros(T, n), values_of(T, n))
for f in (fastmath_of_a_part!, inbounds_of_a_block!, outside_without_inbounds!)
    case(f, exact)
end
case(simd_sum, (T, n) -> (values_of(T, n),))
