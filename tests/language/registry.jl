"""
Every construct of the language, one small function each: `Language.CASES`.

Adding a case is adding a function and `case(f, (T, n) -> arguments)` to a file here, or adding a file.
"""
module Language

using Tessella

struct Case
    name::String
    f::Function
    inputs::Function
    types::Vector{DataType}
    # The interpreter leaves no call to the original function.
    targets::Vector{Symbol}
end

const CASES = Case[]

case(f, inputs; types = DataType[Float32, Float64], targets = [:c, :interpreter]) =
    push!(CASES, Case(string(f), f, inputs, collect(DataType, types), targets))

const SIZES = (0, 1, 2, 3, 17)

# Numbers that are not all alike, the same in every run: in [-1, 1], both zeros among them.
values_of(::Type{T}, sizes...) where {T<:AbstractFloat} =
    reshape(T[T(mod(37k, 64) - 32) / 32 for k in 1:prod(sizes)], sizes...)
values_of(::Type{T}, sizes...) where {T<:Integer} = reshape(T[mod(37k + 11, 101) % T for k in 1:prod(sizes)], sizes...)

for file in sort(readdir(@__DIR__))
    endswith(file, ".jl") && file != "registry.jl" && include(file)
end

end
