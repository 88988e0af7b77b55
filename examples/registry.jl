"""
All examples, for tests and benchmarks: `Examples.ALL`.

Each is a `@tessella` function, the file it stands in, `inputs(T, n, ...)` that makes its arguments for a size (any from 0
on that plain Julia takes; further extents may follow), the element types worth testing, and the extents to time it at on a GPU.
"""
module Examples

struct Example
    name::String
    file::String
    f::Function
    inputs::Function
    types::Vector{DataType}
    large::Tuple{Vararg{Int}}
    "whether results have Julia's bits; else sums of positive numbers may be added up in another order"
    exact::Bool
    "the smallest size that plain Julia takes"
    least::Int
end

Example(name, file, f, inputs, types, large; exact = true, least = 0) = Example(name, file, f, inputs, types, large, exact, least)

for file in ("gemm", "bicg", "gesummv", "doitgen", "mttkrp", "covariance", "jacobi2d", "heat2d", "rgb2gray", "conv5x5",
             "images/warpaffine", "images/gaussian", "images/rgbyuv420", "images/fusion", "images/edgedetector",
             "rodinia/hotspot", "rodinia/pathfinder", "rodinia/srad", "rodinia/lud", "rodinia/needle",
             "vectors/axpy", "vectors/dot", "vectors/transpose")
    include(file * ".jl")
end

const FLOATS = DataType[Float32, Float64]
const INTEGERS = DataType[Int32, Int64]
# Columns and rows of the images of the Tiramisu paper.
const IMAGE = (3520, 2112)

const ALL = [
    Example("gemm", "gemm.jl", gemm!, gemm_inputs, FLOATS, (4096,)),
    Example("bicg", "bicg.jl", bicg!, bicg_inputs, FLOATS, (16384,)),
    Example("gesummv", "gesummv.jl", gesummv!, gesummv_inputs, FLOATS, (16384,)),
    Example("doitgen", "doitgen.jl", doitgen!, doitgen_inputs, FLOATS, (500,)),
    Example("mttkrp", "mttkrp.jl", mttkrp!, mttkrp_inputs, FLOATS, (300,)),
    Example("covariance", "covariance.jl", covariance!, covariance_inputs, FLOATS, (2000,)),
    Example("jacobi2d", "jacobi2d.jl", jacobi2d!, jacobi2d_inputs, FLOATS, (10000,)),
    Example("heat2d", "heat2d.jl", heat2d!, heat2d_inputs, FLOATS, (10000,)),
    Example("rgb2gray", "rgb2gray.jl", rgb2gray!, rgb2gray_inputs, DataType[UInt8], IMAGE),
    Example("rgb2gray_float", "rgb2gray.jl", rgb2gray_float!, rgb2gray_inputs, FLOATS, IMAGE),
    Example("conv5x5", "conv5x5.jl", conv5x5!, conv5x5_inputs, FLOATS, IMAGE),
    Example("warpaffine", "images/warpaffine.jl", warpaffine!, warpaffine_inputs, FLOATS, IMAGE),
    Example("gaussian", "images/gaussian.jl", gaussian!, gaussian_inputs, FLOATS, IMAGE),
    Example("rgbyuv420", "images/rgbyuv420.jl", rgbyuv420!, rgbyuv420_inputs, DataType[UInt8], IMAGE),
    Example("fusion", "images/fusion.jl", fusion!, fusion_inputs, FLOATS, IMAGE),
    Example("edgedetector", "images/edgedetector.jl", edgedetector!, edgedetector_inputs, FLOATS, IMAGE),
    Example("hotspot", "rodinia/hotspot.jl", hotspot!, hotspot_inputs, FLOATS, (8192, 8192, 20)),
    Example("pathfinder", "rodinia/pathfinder.jl", pathfinder!, pathfinder_inputs, INTEGERS, (1000, 100000); least = 1),
    Example("srad", "rodinia/srad.jl", srad!, srad_inputs, FLOATS, (2048, 2048, 10)),
    Example("lud", "rodinia/lud.jl", lud!, lud_inputs, FLOATS, (2048,)),
    Example("needle", "rodinia/needle.jl", needle!, needle_inputs, INTEGERS, (4096,)),
    Example("axpy", "vectors/axpy.jl", axpy!, axpy_inputs, FLOATS, (1 << 27,)),
    Example("dot", "vectors/dot.jl", dot, dot_inputs, FLOATS, (1 << 26,); exact = false, least = 1),
    Example("dot_integers", "vectors/dot.jl", dot, dot_inputs, INTEGERS, (1 << 26,); least = 1),
    Example("transpose", "vectors/transpose.jl", transpose!, transpose_inputs, FLOATS, (8192, 8192)),
]

# The sizes of the equality tests: none, few, primes, those of tiles and one more or less.
const SIZES = (0, 1, 2, 3, 17, 31, 33, 64, 65, 100)
const GPU_SIZES = (SIZES..., 63, 127, 129)

"The sizes that plain Julia takes."
sizes_of(example::Example, sizes) = filter(n -> n >= example.least, [sizes...])

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
    agree(example, run_on_copies(example.f, arguments), run_on_copies(Tessella.original(example.f), arguments))

"Whether two outcomes of [`run_on_copies`](@ref) agree."
agree((actual, actual_arguments), (expected, expected_arguments)) =
    identical(actual, expected) && all(identical(x, y) for (x, y) in zip(actual_arguments, expected_arguments))

# A sum of n positive numbers has a relative error of at most n units in the last place, in whatever order.
agree(example::Example, (actual, changed), (expected, wanted)) =
    example.exact ? agree((actual, changed), (expected, wanted)) :
    abs(actual - expected) <= maximum(length, wanted) * eps(typeof(expected)) * abs(expected) &&
    all(identical(x, y) for (x, y) in zip(changed, wanted))

end
