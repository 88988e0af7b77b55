# Both ends of springs under `@fastmath`: four statements update one array, in whatever order threads come. Sums of small integers are exact in any.
#! sizes F=2,m k=e l=e w=e
#! within k=m l=m
#! run m=3 e=1
#! run m=40 e=2500
@tessella function fast_springs!(F::Matrix{Float32}, k::Vector{Int}, l::Vector{Int}, w::Vector{Int16})
    fill!(F, 0.0f0)
    @fastmath for e in eachindex(k)
        pull = Float32(w[e])
        F[1, k[e]] += pull
        F[2, k[e]] -= 2pull
        F[1, l[e]] -= pull
        F[2, l[e]] += 2pull
    end
    return nothing
end
