# The programs that run on the GPU, in tests and benchmarks, and how their results are compared.

include(joinpath(@__DIR__, "..", "..", "examples", "registry.jl"))
include(joinpath(@__DIR__, "..", "polybench", "registry.jl"))
include(joinpath(@__DIR__, "..", "storage", "registry.jl"))
include(joinpath(@__DIR__, "..", "commands", "registry.jl"))
include("sums.jl")
include("grids.jl")
include("fast.jl")
include("sweeps.jl")
include("edges.jl")
include("quotients.jl")
include("transposes.jl")
include("columns.jl")

function device_name()
    try
        return join(readlines(`nvidia-smi --query-gpu=name --format=csv,noheader`), ", ")
    catch
        return "unknown (no nvidia-smi)"
    end
end

const LARGE_TEST = 257

# Extents for which programs have kernels of their own: products and stencils that are large enough to fill the GPU in larger tiles.
const LARGER_TESTS = Dict("gemm" => 1009, "covariance" => 1409, "heat2d" => 3301, "jacobi2d" => 3301, "polybench_gemm" => 1009,
                          "polybench_2mm" => 1009, "polybench_3mm" => 1009, "polybench_syrk" => 1409, "polybench_covariance" => 1409,
                          "polybench_correlation" => 1409, "polybench_jacobi_2d" => 3301, "gemm_fast" => 1009)

larger_test(name) = haskey(LARGER_TESTS, name) ? [LARGER_TESTS[name]] : Int[]

# An example or a kernel.
struct Case
    name::String
    f::Function
    inputs::Function
    types::Vector{DataType}
    sizes::Vector{Int}
    "whether two outcomes of `Examples.run_on_copies` agree"
    agree::Function
    "the extents to time it at"
    large::Tuple{Vararg{Int}}
    "makes arguments of such extents: `at(T, extents...)`"
    at::Function
    "commands instead of the program's own; none if empty"
    schedule::String
end

Case(name, f, inputs, types, sizes, agree, large, at) = Case(name, f, inputs, types, sizes, agree, large, at, "")

# Runs `work` while a schedule stands in place of the program's own.
function with_commands(work, f, commands, file)
    before = map(definition -> definition.schedule, Tessella.definitions(f))
    Tessella.set_schedule!(f, Tessella.SourceText(commands, file, 1))
    try
        return work()
    finally
        Tessella.set_schedule!(f, before[1])
    end
end

Case(it::Examples.Example) =
    Case(it.name, it.f, it.inputs, it.types, [Examples.sizes_of(it, Examples.GPU_SIZES); LARGE_TEST; larger_test(it.name)],
         (actual, expected) -> Examples.agree(it, actual, expected), it.large, it.inputs)

# Where PolyBench's LARGE extents leave a GPU idle: arrays that its caches do not hold.
const GPU_EXTENTS = Dict("atax" => (16384, 16384), "bicg" => (16384, 16384), "gemver" => (16384,), "gesummv" => (16384,),
                         "mvt" => (16384,), "jacobi-2d" => (20, 8192), "gemm" => (2048, 2048, 2048))

polybench_name(it) = "polybench_" * replace(it.name, "-" => "_")

Case(it::PolyBench.Kernel) =
    Case(polybench_name(it), it.f, (T, n) -> PolyBench.inputs(it, T, n), it.types,
         [it.sizes; LARGE_TEST; larger_test(polybench_name(it))], (actual, expected) -> PolyBench.agree(it, actual, expected),
         get(GPU_EXTENTS, it.name, it.large), it.inputs)

Case(it::Storage.Program) =
    Case("storage_" * it.name, it.f, it.inputs, it.types, [Storage.SIZES..., LARGE_TEST], Examples.agree, (1024,),
         it.inputs)

Case(it::Commands.Program) =
    Case("command_" * it.name, it.f, it.inputs, [it.type], [Commands.SIZES..., LARGE_TEST], Examples.agree, (1024,), it.inputs)

const SUMS = [
    Case("largest", Sums.largest!, Sums.largest_inputs, DataType[Float32, Float64], Sums.LENGTHS, Examples.agree, (1 << 26,),
         Sums.largest_inputs),
    Case("total", Sums.total!, Sums.total_inputs, DataType[Int32, Int64], Sums.EXTENTS, Examples.agree, (32768,), Sums.total_inputs),
    Case("rows_and_columns", Sums.rows_and_columns!, Sums.matrix_inputs, DataType[Float32, Float64], Sums.EXTENTS, Examples.agree,
         (16384,), Sums.matrix_inputs),
    Case("converge", Sums.converge!, Sums.converge_inputs, DataType[Float32, Float64], Sums.EXTENTS, Examples.agree, (8192,), Sums.converge_inputs),
    Case("norms", Sums.norms!, Sums.norms_inputs, DataType[Int32, Int64], Sums.LENGTHS, Examples.agree, (1 << 24,), Sums.norms_inputs),
    Case("space_extremes", Sums.space_extremes, Sums.space_inputs, DataType[Float32, Float64], filter(>(0), Sums.EXTENTS), Examples.agree, (1024,),
         Sums.space_inputs),
    Case("histogram", Sums.histogram!, Sums.histogram_inputs, DataType[Int32, Int64], Sums.LENGTHS, Examples.agree, (1 << 24,),
         Sums.histogram_inputs),
    Case("masked", Sums.masked!, Sums.masked_inputs, DataType[Float32, Float64], Sums.EXTENTS, Examples.agree, (8192,), Sums.masked_inputs),
]

const GRIDS = [
    Case("deep", Grids.deep!, Grids.deep_inputs, DataType[Float32], Grids.DEPTHS, Examples.agree, (1 << 20,), Grids.deep_inputs),
    Case("wide", Grids.wide!, Grids.wide_inputs, DataType[Float32], Grids.WIDTHS, Examples.agree, (1 << 24,), Grids.wide_inputs),
]

const FAST = [
    Case("gemm_fast", Fast.gemm_fast!, Fast.gemm_inputs, DataType[Float32, Float64], [Fast.EXTENTS; larger_test("gemm_fast")],
         Examples.agree, (4096,), Fast.gemm_inputs),
]

const SWEEPS = [Case(name, f, Sweeps.matrices, DataType[Float32, Float64], Sweeps.EXTENTS, Examples.agree, (10000,), Sweeps.matrices)
                for (name, f) in ["heat2d_step" => Sweeps.heat2d_step!, "jacobi2d_step" => Sweeps.jacobi2d_step!]]

const QUOTIENTS = [Case("quotients", Quotients.quotients!, Quotients.inputs, DataType[Float32, Float64], Quotients.LENGTHS, Examples.agree,
                        (1 << 25,), Quotients.inputs)]

const TRANSPOSES = [[Case("transposed_$name", f, inputs, DataType[Float32, Float64], Transposes.EXTENTS, Examples.agree, (512,), inputs)
                     for (name, f, inputs) in Transposes.ALL];
                    [Case(name, f, Transposes.complex_inputs, DataType[ComplexF32, ComplexF64], Transposes.EXTENTS, Examples.agree, (4096,),
                          Transposes.complex_inputs) for (name, f) in Transposes.COMPLEX]]

const EDGES = [Case("edges_$name" * (at == 0 ? "" : "_$at"), f, inputs, DataType[Float32], Edges.SIZES, Examples.agree, (4096,), inputs, schedule)
               for (name, f, inputs, schedules) in Edges.ALL for (at, schedule) in pairs(["", schedules...]) for at in (at - 1,)]

const COLUMNS = [Case(name, f, inputs, DataType[Float32, Float64], Columns.EXTENTS, Examples.agree, large, inputs)
                 for (name, f, inputs, large) in Columns.ALL]

const CASES = Case[SUMS; GRIDS; FAST; SWEEPS; QUOTIENTS; TRANSPOSES; COLUMNS; map(Case, Examples.ALL); map(Case, PolyBench.ALL);
                   map(Case, filter(it -> it.target === :cuda, Storage.ALL));
                   map(Case, filter(it -> it.target === :cuda, Commands.ALL))]

copy_array(argument) = argument isa AbstractArray ? copy(argument) : argument
