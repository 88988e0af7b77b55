# Writes `operators.txt`: what Julia's operators give for every pair of types and a set of special values.
#
#     julia interpreter/tests/operators.jl > interpreter/tests/operators.txt
#
# A line is `operator types = result-type results...`: one result for every combination of the special values (the last
# operand's change fastest), as hexadecimal bits of the result's own width, `N` for a NaN, `x` where Julia throws. The
# values themselves come first, as `values type bits...`.

const TYPES = (Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float32, Float64)

few(::Type{Bool}) = [false, true]
few(T::Type{<:Signed}) = T[typemin(T), -3, 2, typemax(T)]
few(T::Type{<:Unsigned}) = T[0, 3, typemax(T)]
few(T::Type{<:AbstractFloat}) = T[-0.0, 2.5, -Inf, NaN, 16777216]

many(::Type{Bool}) = [false, true]
many(T::Type{<:Signed}) = T[typemin(T), typemin(T) + 1, -7, -1, 0, 1, 2, 5, typemax(T)]
many(T::Type{<:Unsigned}) = T[0, 1, 2, 7, typemax(T) >> 1, typemax(T) - 1, typemax(T)]
many(T::Type{<:AbstractFloat}) =
    T[-Inf, -3.5, -2.5, -1.0, -nextfloat(zero(T)), -0.0, 0.0, floatmin(T) / 2, 0.5, 1.5, 3.0, 1e7, floatmax(T), Inf, NaN]

bits(x::Bool) = string(UInt8(x), base = 16)
bits(x::Integer) = string(reinterpret(unsigned(typeof(x)), x), base = 16)
bits(x::Float32) = isnan(x) ? "N" : string(reinterpret(UInt32, x), base = 16)
bits(x::Float64) = isnan(x) ? "N" : string(reinterpret(UInt64, x), base = 16)

function row(name, f, operands...)
    types = join(map(t -> eltype(t), operands), " ")
    results = String[]
    kinds = Set{DataType}()
    combinations = vec([reverse(c) for c in Iterators.product(reverse(operands)...)])
    for values in combinations
        try
            result = f(values...)
            push!(kinds, typeof(result))
            push!(results, bits(result))
        catch error
            error isa MethodError && return
            push!(results, "x")
        end
    end
    length(kinds) > 1 && error("$name of $types gives $kinds")
    kind = isempty(kinds) ? "Nothing" : first(kinds)
    (isempty(kinds) || kind in TYPES) || return
    println(name, " ", types, " = ", kind, " ", join(results, " "))
end

for T in TYPES
    println("values few ", T, " ", join(map(bits, few(T)), " "))
    println("values many ", T, " ", join(map(bits, many(T)), " "))
end

const BINARY = (:+, :-, :*, :/, :÷, :%, :mod, :fld, :cld, :&, :|, :⊻, :<<, :>>, :>>>, :min, :max, :copysign)
const COMPARE = (:(==), :!=, :<, :<=, :>, :>=)
for op in (BINARY..., COMPARE...), A in TYPES, B in TYPES
    values = A == B ? many : few
    row(op, eval(op), values(A), values(B))
end

const UNARY = (:+, :-, :~, :!, :abs, :abs2, :sign, :signbit, :inv, :sqrt, :floor, :ceil, :trunc, :round, :isnan, :isinf,
               :isfinite, :iszero, :isone, :iseven, :isodd, :float, :unsigned, :signed, :zero, :one, :typemax, :typemin)
for op in UNARY, A in TYPES
    row(op, eval(op), many(A))
end

# `x^p` with a literal exponent.
for p in (-3, -2, -1, 0, 1, 2, 3, 4, 5, 10), A in TYPES
    row("^$p", eval(:(x -> x^$p)), many(A))
end

for T in TYPES, A in TYPES
    row("convert:$T", T, many(A))
    row("%:$T", x -> x % T, many(A))
end

for A in TYPES, B in TYPES
    row("clamp", (x, y) -> clamp(x, zero(y), y), few(A), few(B))
    row("muladd", (x, y) -> fma(x, y, y), few(A), few(B))
end
