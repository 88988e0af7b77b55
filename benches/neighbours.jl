# Stencils whose neighbours go round the array or stay inside of it, in loops over offsets and without, beside plain Julia:
# `OMP_NUM_THREADS=1 julia --project=julia-pkg benches/neighbours.jl`.
using Tessella

@tessella function life_summed!(A::Matrix{Int32}, B::Matrix{Int32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 1:n, i in 1:m
            alive = sum(A[mod1(i + di, m), mod1(j + dj, n)] for di in -1:1, dj in -1:1) - A[i, j]
            B[i, j] = alive == 3 || (alive == 2 && A[i, j] == 1) ? 1 : 0
        end
        A .= B
    end
end

@tessella function life_by_offsets!(A::Matrix{Int32}, B::Matrix{Int32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 1:n, i in 1:m
            alive = 0
            for dj in -1:1, di in -1:1
                di == 0 && dj == 0 && continue
                alive += A[mod1(i + di, m), mod1(j + dj, n)]
            end
            B[i, j] = alive == 3 || (alive == 2 && A[i, j] == 1) ? 1 : 0
        end
        A .= B
    end
end

@tessella function life_inside!(A::Matrix{Int32}, B::Matrix{Int32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 1:n, i in 1:m
            alive = 0
            for dj in -1:1, di in -1:1
                x, y = i + di, j + dj
                if (di, dj) != (0, 0) && 1 <= x <= m && 1 <= y <= n
                    alive += A[x, y]
                end
            end
            B[i, j] = alive == 3 || (alive == 2 && A[i, j] == 1) ? 1 : 0
        end
        A .= B
    end
end

@tessella function gray_scott!(U::Matrix{Float64}, V::Matrix{Float64}, f::Float64, k::Float64, steps::Int)
    m, n = size(U)
    Un, Vn = similar(U), similar(V)
    for t in 1:steps
        for j in 1:n, i in 1:m
            lu, lv = -4 * U[i, j], -4 * V[i, j]
            for (di, dj) in ((-1, 0), (1, 0), (0, -1), (0, 1))
                x, y = mod1(i + di, m), mod1(j + dj, n)
                lu += U[x, y]
                lv += V[x, y]
            end
            r = U[i, j] * V[i, j]^2
            Un[i, j] = U[i, j] + 0.1 * lu - r + f * (1 - U[i, j])
            Vn[i, j] = V[i, j] + 0.05 * lv + r - (f + k) * V[i, j]
        end
        U, Un = Un, U
        V, Vn = Vn, V
    end
    return U, V
end

@tessella function burgers!(u::Vector{Float64}, c::Float64, d::Float64, steps::Int)
    n = length(u)
    un = copy(u)
    for t in 1:steps
        copyto!(un, u)
        for i in 1:n
            right = i == n ? 1 : i + 1
            left = i == 1 ? n : i - 1
            u[i] = un[i] - c * un[i] * (un[right] - un[left]) + d * (un[right] - 2un[i] + un[left])
        end
    end
end

fastest(f, arguments) = minimum(@elapsed(f(own...)) for own in [deepcopy(arguments) for _ in 1:7])

life = Int32[(7i + 13j + i * j) % 3 == 0 for i in 1:500, j in 1:400]
field = [0.5 + mod(i * j, 17) / 34 for i in 1:500, j in 1:400]
programs = [(life_summed!, (life, copy(life), 20)), (life_by_offsets!, (life, copy(life), 20)),
            (life_inside!, (life, copy(life), 20)), (gray_scott!, (field, field ./ 4, 0.04, 0.06, 20)),
            (burgers!, (vec(field), 0.1, 0.05, 20))]
for (f, arguments) in programs
    ours, plain = deepcopy(arguments), deepcopy(arguments)
    isequal(f(ours...), Tessella.original(f)(plain...)) && isequal(ours, plain) || error("$f differs from plain Julia")
    println(rpad(f, 20), lpad(round(1e3fastest(f, arguments), digits = 2), 9), " ms, plain Julia ",
            lpad(round(1e3fastest(Tessella.original(f), arguments), digits = 2), 9), " ms")
end
