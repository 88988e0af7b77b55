"""
Programs as a scientist writes them, several functions each, one module a file: `Programs.CASES`.

Adding a case is adding a function and `program(f, (T, n) -> arguments)` to a file here, or adding a file; its name goes to
`docs/programs.md`, too.
"""
module Programs

using Tessella

struct Case
    name::String
    f::Function
    inputs::Function
    types::Vector{DataType}
    sizes::Vector{Int}
    # Takes a C compiler or the interpreter longer than a test should: run when asked for.
    slow::Bool
end

const CASES = Case[]

const SIZES = [0, 1, 2, 3, 13]

function program(f, inputs; types = [Float64], sizes = SIZES, slow = false)
    owner = nameof(parentmodule(Tessella.original(f)))
    push!(CASES, Case("$owner.$f", f, inputs, collect(DataType, types), collect(Int, sizes), slow))
end

# Numbers that are not all alike, the same in every run: in [-1, 1], both zeros among them.
values_of(::Type{T}, sizes...) where {T<:AbstractFloat} =
    reshape(T[T(mod(37k, 64) - 32) / 32 for k in 1:prod(sizes)], sizes...)

# Numbers in [0.5, 1.5).
positive_of(::Type{T}, sizes...) where {T<:AbstractFloat} =
    reshape(T[T(mod(29k, 64)) / 64 + T(0.5) for k in 1:prod(sizes)], sizes...)

# Integers from `low` to `high`.
integers_of(low, high, sizes...) = reshape(Int[low + mod(7k * k + 3k, high - low + 1) for k in 1:prod(sizes)], sizes...)

for file in sort(readdir(@__DIR__))
    endswith(file, ".jl") && file != "registry.jl" && include(file)
end

end
