# Sums whose order is open, and loops that data skip, beside plain Julia: `OMP_NUM_THREADS=1 julia --project=julia-pkg benches/sums_and_skips.jl`.
using Tessella

@tessella whole(A::Matrix{Float64}) = sum(A)
@tessella along(A::Array{Float64,3}) = sum(A, dims = (1, 2))
@tessella products(x::Vector{Float64}, y::Vector{Float64}) = sum(x .* y) + sum(abs2, x)

@tessella function means(m::Vector{Float64}, A::Array{Float64,3})
    for k in axes(A, 3)
        m[k] = sum(view(A, :, :, k)) / (size(A, 1) * size(A, 2))
    end
end

@tessella function simd(x::Vector{Float64})
    s = 0.0
    @simd for i in eachindex(x)
        s += x[i]
    end
    return s
end

@tessella function eliminate!(A::Matrix{Float64})
    n = size(A, 1)
    for i in 1:n-1, j in i+1:n
        if A[j, i] != 0
            m = A[j, i] / A[i, i]
            for k in i:n
                A[j, k] -= m * A[i, k]
            end
        end
    end
end

@tessella function hough(img::Matrix{Int}, C::Vector{Float64}, S::Vector{Float64}, rmax::Int)
    h, w = size(img)
    acc = zeros(Int, 2rmax + 1, length(C))
    for x in 1:w, y in 1:h
        img[y, x] > 0 || continue
        for t in eachindex(C)
            r = round(Int, x * C[t] + y * S[t])
            acc[r+rmax+1, t] += 1
        end
    end
    return acc
end

@tessella function add_rows!(y::Vector{Float64}, active::Vector{Float64}, W::Matrix{Float64})
    for i in axes(W, 1)
        if active[i] > 0
            for j in axes(W, 2)
                y[i] += W[i, j]
            end
        end
    end
end

# Calls that change what they are given get arrays of their own: what is eliminated once has nothing left.
function fastest(f, arguments, changes)
    all = [changes ? deepcopy(arguments) : arguments for _ in 1:20]
    return minimum(@elapsed(f(own...)) for own in all)
end

function beside(f, arguments, size)
    original = Tessella.original(f)
    f(deepcopy(arguments)...)
    original(deepcopy(arguments)...)
    ours, theirs = (fastest(g, arguments, endswith(string(f), '!')) for g in (f, original))
    println(rpad(f, 12), rpad(size, 18), rpad("$(round(1e6ours, digits = 1)) us", 14), "plain Julia $(round(1e6theirs, digits = 1)) us")
end

for n in (64, 512)
    A = rand(n, n, 3)
    beside(whole, (A[:, :, 1],), "$n x $n")
    beside(along, (A,), "$n x $n x 3")
    beside(means, (zeros(3), A), "$n x $n x 3")
end
for n in (1000, 100000)
    beside(simd, (rand(n),), n)
    beside(products, (rand(n), rand(n)), n)
end
for n in (200, 800)
    beside(eliminate!, ([abs(i - j) > 1 ? 0.0 : i == j ? 2.0 : -1.0 for i in 1:n, j in 1:n],), "$n, tridiagonal")
end
angles = (0:89) .* (π / 90)
beside(hough, ([mod(7919 * (i + 300j), 50) == 0 ? 1 : 0 for i in 1:300, j in 1:300], cos.(angles), sin.(angles), 430), "300 x 300, 2 %")
beside(add_rows!, (zeros(2000), [i == 5 ? 1.0 : 0.0 for i in 1:2000], rand(2000, 2000)), "2000 x 2000, 1")
