"""
All examples, for tests and benchmarks: `Examples.ALL`.

Each is a `@tessella` function, the file it stands in, `inputs(T, n)` that makes its arguments for a size (any from 1 on),
the element types worth testing, and a size to time it at.
"""
module Examples

struct Example
    name::String
    file::String
    f::Function
    inputs::Function
    types::Vector{DataType}
    large::Int
end

for file in ("gemm", "bicg", "gesummv", "doitgen", "mttkrp", "covariance", "jacobi2d", "heat2d", "rgb2gray", "conv5x5")
    include(file * ".jl")
end

const FLOATS = DataType[Float32, Float64]

const ALL = [
    Example("gemm", "gemm.jl", gemm!, gemm_inputs, FLOATS, 600),
    Example("bicg", "bicg.jl", bicg!, bicg_inputs, FLOATS, 3000),
    Example("gesummv", "gesummv.jl", gesummv!, gesummv_inputs, FLOATS, 2000),
    Example("doitgen", "doitgen.jl", doitgen!, doitgen_inputs, FLOATS, 500),
    Example("mttkrp", "mttkrp.jl", mttkrp!, mttkrp_inputs, FLOATS, 300),
    Example("covariance", "covariance.jl", covariance!, covariance_inputs, FLOATS, 600),
    Example("jacobi2d", "jacobi2d.jl", jacobi2d!, jacobi2d_inputs, FLOATS, 2000),
    Example("heat2d", "heat2d.jl", heat2d!, heat2d_inputs, FLOATS, 2000),
    Example("rgb2gray", "rgb2gray.jl", rgb2gray!, rgb2gray_inputs, DataType[UInt8], 2000),
    Example("rgb2gray_float", "rgb2gray.jl", rgb2gray_float!, rgb2gray_inputs, FLOATS, 2000),
    Example("conv5x5", "conv5x5.jl", conv5x5!, conv5x5_inputs, FLOATS, 1500),
]

# The sizes of the equality tests.
const SIZES = (1, 2, 3, 17, 64, 100)

"Whether two results have the same bits; NaNs, whose bits Julia leaves open, equal one another."
identical(a::AbstractArray, b::AbstractArray) = size(a) == size(b) && all(identical(x, y) for (x, y) in zip(a, b))
identical(a::T, b::T) where {T} = a === b || (a != a && b != b)
identical(a, b) = false

"Runs a function on copies of the arguments: its result, and the arguments as they are afterwards."
function run_on_copies(f, arguments)
    copies = map(argument -> argument isa AbstractArray ? copy(argument) : argument, arguments)
    result = f(copies...)
    return result, copies
end

"Whether compiled code and plain Julia agree on these arguments, in what they return and in what they write."
agrees(example::Example, arguments) =
    agree(run_on_copies(example.f, arguments), run_on_copies(Tessella.original(example.f), arguments))

"Whether two outcomes of [`run_on_copies`](@ref) agree."
agree((actual, actual_arguments), (expected, expected_arguments)) =
    identical(actual, expected) && all(identical(x, y) for (x, y) in zip(actual_arguments, expected_arguments))

end
