# Weights at places that data name, under `@fastmath`: threads add them up in one piece, in whatever order they come. Sums of small integers are exact in any.
#! sizes h=m k=n w=n
#! within k=m
#! run m=3 n=1
#! run m=40 n=2500
@tessella function fast_scatter!(h::Vector{Float64}, k::Vector{Int}, w::Vector{Int32})
    fill!(h, 0.0)
    @fastmath for p in eachindex(k)
        h[k[p]] -= w[p]
    end
    return nothing
end
