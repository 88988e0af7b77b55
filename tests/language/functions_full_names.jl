# Functions of the library by their full names, beside functions, variables and closures of the user that are called so.
module FullNames

using Tessella
using LinearAlgebra, Statistics
using ..Language: case, values_of

abs(x) = x + 100
abs2(x) = -x
dot(x, y) = 42
max(a, b) = a - b
findmax(x) = 7
minimum(x) = -5
sum(x) = 3
zip(x, y) = 1:2
floor(x) = 12
mean(x) = 2 * Statistics.mean(x)

@tessella called_in_full(x, y) =
    (Base.abs(x[1]) - abs(x[1]), LinearAlgebra.dot(x, y) + dot(x, y), Base.findmax(x), findmax(x), mean(x) + Statistics.mean(x))
case(called_in_full, (T, n) -> (values_of(T, n + 1), values_of(T, n + 1)))

@tessella dotted_in_full(x) = Base.abs.(x) .+ abs.(x), Base.max.(x, 0) .- max.(x, 0), round.(x, RoundDown), Base.round.(x, Base.RoundUp)
case(dotted_in_full, (T, n) -> (values_of(T, n),))

@tessella passed_in_full(x) = map(Base.abs, x), map(abs, x), Base.sum(Base.abs2, x), sum(x), Base.sum(abs2, x),
    Base.reduce(Base.max, x; init = zero(eltype(x))), foldl(Base.:+, x), accumulate(Base.max, x), Base.mapreduce(Base.abs, Base.:+, x)
case(passed_in_full, (T, n) -> (values_of(T, n),))

# What the library makes of other functions is made of its own.
@tessella made_of_others(x) = extrema(x), Statistics.mean(x), Base.maximum(Base.abs, x)
case(made_of_others, (T, n) -> (values_of(T, n + 1),))

# A reduction of none has the value that Julia knows for its own `abs` only.
@tessella of_none_in_full(x) = Base.sum(Base.abs(v) for v in x if v > 2)
@tessella of_none_by_own(x) = Base.sum(abs(v) for v in x if v > 2)
case(of_none_in_full, (T, n) -> (values_of(T, n),))
case(of_none_by_own, (T, n) -> (values_of(T, n),))

@tessella function beside_variables(x, abs)
    sum = zero(eltype(x))
    for i in eachindex(x)
        sum += x[i]
    end
    length = 3
    for i in 1:Base.length(x)
        sum += length * i
    end
    mean = Statistics.mean(x .* sum)
    return sum - Base.sum(x), Base.sum(v * sum for v in x), mean, Base.abs.(x .- abs), Base.prod(Base.sum(x) + sum + v for v in x)
end
case(beside_variables, (T, n) -> (values_of(T, n), T(0.5)))

@tessella function beside_closures(x)
    prod(v) = v + 1
    sum = 2
    y = Base.map(v -> v + sum, x)
    sum = 4
    z = [Base.sum(x) + sum * i for i in 1:3]
    return Base.prod(prod(v) for v in x), y .* sum, z
end
case(beside_closures, (T, n) -> (values_of(T, n),))

applied(f, x) = f(x) + Base.sum(x)
@tessella beside_helpers(x) = applied(v -> sum(v) - Base.sum(v) / 2, x)
case(beside_helpers, (T, n) -> (values_of(T, n),))

@tessella function paired_in_full(x, y)
    s = zero(eltype(x))
    for (i, v) in Base.enumerate(x)
        s += i * v
    end
    for (a, b) in Base.zip(x, y)
        s += a * b
    end
    Base.foreach(v -> s -= v / 2, x)
    return s
end
case(paired_in_full, (T, n) -> (values_of(T, n), values_of(T, n + 1)))

end
