"""
The thirty kernels of PolyBench 4.2, written in Julia, for tests and benchmarks: `PolyBench.ALL`.

Each is a `@tessella` function; `inputs(T, dims...)` makes its arguments for a list of extents (time steps among them),
`dims(n)` makes such a list from one number, and `large` is PolyBench's LARGE one.
"""
module PolyBench

using Tessella

struct Kernel
    name::String
    file::String
    f::Function
    inputs::Function
    dims::Function
    "the numbers `n` worth testing"
    sizes::Vector{Int}
    types::Vector{DataType}
    "whether it calls elementary functions, whose last bits are open"
    inexact::Bool
    "PolyBench's LARGE extents"
    large::Tuple{Vararg{Int}}
end

"A symmetric matrix whose diagonal outweighs the rest, so that it is positive definite."
positive_definite(::Type{T}, n) where {T} = T[i == j ? n : mod((i - 1) * (j - 1), n) / n for i in 1:n, j in 1:n]

for file in ("2mm", "3mm", "adi", "atax", "bicg", "cholesky", "correlation", "covariance", "deriche", "doitgen",
             "durbin", "fdtd2d", "floyd_warshall", "gemm", "gemver", "gesummv", "gramschmidt", "heat3d", "jacobi1d",
             "jacobi2d", "lu", "ludcmp", "mvt", "nussinov", "seidel2d", "symm", "syr2k", "syrk", "trisolv", "trmm")
    include(file * ".jl")
end

const FLOATS = DataType[Float32, Float64]
const INTEGERS = DataType[Int32, Int64]
# Nothing, one, prime, and a tile and one more or less.
const FROM_0 = [0, 1, 2, 7, 31, 33]
# For kernels that name the first or last element outside all loops.
const FROM_1 = FROM_0[2:end]

kernel(name, f, inputs, dims, large; file = name, sizes = FROM_0, types = FLOATS, inexact = false) =
    Kernel(name, file * ".jl", f, inputs, dims, sizes, types, inexact, large)

const ALL = [
    kernel("2mm", kernel_2mm!, mm2_inputs, n -> (n, n + 1, n + 3, n + 2), (800, 900, 1100, 1200)),
    kernel("3mm", kernel_3mm!, mm3_inputs, n -> (n, n + 1, n + 2, n + 3, n + 4), (800, 900, 1000, 1100, 1200)),
    kernel("adi", kernel_adi!, adi_inputs, n -> (3, n), (500, 1000)),
    kernel("atax", kernel_atax!, atax_inputs, n -> (n, n + 2), (1900, 2100)),
    kernel("bicg", kernel_bicg!, bicg_inputs, n -> (n, n + 2), (1900, 2100)),
    kernel("cholesky", kernel_cholesky!, cholesky_inputs, n -> (n,), (2000,)),
    kernel("correlation", kernel_correlation!, correlation_inputs, n -> (n, n + 2), (1200, 1400); sizes = FROM_1),
    kernel("covariance", kernel_covariance!, covariance_inputs, n -> (n, n + 2), (1200, 1400)),
    kernel("deriche", kernel_deriche!, deriche_inputs, n -> (n, n + 3), (4096, 2160); inexact = true),
    kernel("doitgen", kernel_doitgen!, doitgen_inputs, n -> (min(n, 5), min(n, 6), n), (150, 140, 160)),
    kernel("durbin", kernel_durbin!, durbin_inputs, n -> (n,), (2000,); sizes = FROM_1),
    kernel("fdtd-2d", kernel_fdtd2d!, fdtd2d_inputs, n -> (3, n, n + 2), (500, 1000, 1200);
           file = "fdtd2d", sizes = FROM_1),
    kernel("floyd-warshall", kernel_floyd_warshall!, floyd_warshall_inputs, n -> (n,), (2800,);
           file = "floyd_warshall", types = [INTEGERS; Float64]),
    kernel("gemm", kernel_gemm!, gemm_inputs, n -> (n, n + 1, n + 2), (1000, 1100, 1200)),
    kernel("gemver", kernel_gemver!, gemver_inputs, n -> (n,), (2000,)),
    kernel("gesummv", kernel_gesummv!, gesummv_inputs, n -> (n,), (1300,)),
    kernel("gramschmidt", kernel_gramschmidt!, gramschmidt_inputs, n -> (n + 1, n), (1000, 1200)),
    kernel("heat-3d", kernel_heat3d!, heat3d_inputs, n -> (3, min(n, 17)), (500, 120); file = "heat3d"),
    kernel("jacobi-1d", kernel_jacobi1d!, jacobi1d_inputs, n -> (5, n), (500, 2000); file = "jacobi1d"),
    kernel("jacobi-2d", kernel_jacobi2d!, jacobi2d_inputs, n -> (4, n), (500, 1300); file = "jacobi2d"),
    kernel("lu", kernel_lu!, lu_inputs, n -> (n,), (2000,)),
    kernel("ludcmp", kernel_ludcmp!, ludcmp_inputs, n -> (n,), (2000,)),
    kernel("mvt", kernel_mvt!, mvt_inputs, n -> (n,), (2000,)),
    kernel("nussinov", kernel_nussinov!, nussinov_inputs, n -> (n,), (2500,); types = INTEGERS),
    kernel("seidel-2d", kernel_seidel2d!, seidel2d_inputs, n -> (3, n), (500, 2000); file = "seidel2d"),
    kernel("symm", kernel_symm!, symm_inputs, n -> (n, n + 1), (1000, 1200)),
    kernel("syr2k", kernel_syr2k!, syr2k_inputs, n -> (n, n + 1), (1000, 1200)),
    kernel("syrk", kernel_syrk!, syrk_inputs, n -> (n + 1, n), (1000, 1200)),
    kernel("trisolv", kernel_trisolv!, trisolv_inputs, n -> (n,), (2000,)),
    kernel("trmm", kernel_trmm!, trmm_inputs, n -> (n, n + 1), (1000, 1200)),
]

"The arguments of a kernel for a number `n`, and for PolyBench's LARGE extents."
inputs(kernel::Kernel, T, n) = kernel.inputs(T, kernel.dims(n)...)
large_inputs(kernel::Kernel, T) = kernel.inputs(T, kernel.large...)

# --- comparing --------------------------------------------------------------------------------------------------------

"Whether two results have the same bits; NaNs, whose bits Julia leaves open, equal one another."
identical(a::AbstractArray, b::AbstractArray) = size(a) == size(b) && all(identical(x, y) for (x, y) in zip(a, b))
identical(a::T, b::T) where {T} = a === b || (a != a && b != b)
identical(a, b) = false

# Where elementary functions are called, coefficients differ in their last places. The filter of `deriche` has a gain of
# about 20, and its coefficients lose one digit to cancellation: a thousand units in the last place are enough.
close(a::AbstractArray{T}, b::AbstractArray{T}) where {T} =
    size(a) == size(b) && (isempty(a) || maximum(abs, a - b) <= 1000 * eps(T) * maximum(abs, b))
close(a, b) = identical(a, b)

"Runs a function on copies of the arguments: its result, and the arguments as they are afterwards."
function run_on_copies(f, arguments)
    copies = map(argument -> argument isa AbstractArray ? copy(argument) : argument, arguments)
    result = f(copies...)
    return result, copies
end

"Whether two outcomes of [`run_on_copies`](@ref) agree, in what was returned and in what was written."
function agree(kernel::Kernel, (actual, actual_arguments), (expected, expected_arguments))
    same = kernel.inexact ? close : identical
    return same(actual, expected) && all(same(x, y) for (x, y) in zip(actual_arguments, expected_arguments))
end

end
