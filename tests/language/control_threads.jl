# `Threads.@threads` says that iterations may run in any order; this is proved, and they run as if one after another.

using Base.Threads: @threads

@tessella function threads_scaled!(y, x)
    Threads.@threads for i in eachindex(y)
        y[i] = 2x[i]
    end
    Base.Threads.@threads for i in 2:length(y)
        x[i] < 0 && continue
        y[i] += 1
        for k in 1:3
            k > i && break
            y[i] += k
        end
    end
    return nothing
end
case(threads_scaled!, (T, n) -> (zeros(T, n), values_of(T, n)))

@tessella function threads_named!(B, A)
    @threads for j in axes(A, 2)
        for i in axes(A, 1)
            @inbounds B[i, j] = A[i, j] + j
        end
    end
    for t in 1:2
        @threads :static for j in 1:size(B, 2)
            B[1, j] *= t
        end
    end
    return B
end
case(threads_named!, (T, n) -> (zeros(T, n + 1, n), values_of(T, n + 1, n)))

# Outside of the array for the last iteration.
@tessella function threads_outside!(y, x)
    @threads for i in eachindex(y)
        y[i] = x[i+1]
    end
    return nothing
end
case(threads_outside!, (T, n) -> (zeros(T, n), values_of(T, n + 1)))
