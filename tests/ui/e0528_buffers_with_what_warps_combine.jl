#! target cuda
@tessella function f!(s::Vector{Float64}, A::Matrix{Float64}, w::Vector{Float64})
    n = size(A, 2)
    for j in 1:n
        @simd for i in 1:29056
            @comp S s[j] += A[i, j] * w[i]
        end
    end
end

@schedule f! begin
    split(S, i, 256); interchange(S, i0, i1); rfactor(S, i0, 1)
    @block x for b = j
        @combine for t = i1
            S_start
            for i0 = fld(i - 1, 256)
                S
            end
            S_total
        end
    end
    cache_shared(w, S, b)
end
