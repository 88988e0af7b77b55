"""
Each command of a schedule in a program of its own: `Commands.ALL`; those for data stand in `tests/storage`.

Each is a `@tessella` function with its `@schedule`, `inputs(T, n)` that makes its arguments, its element type, and the
target that the schedule is for.
"""
module Commands

struct Program
    name::String
    f::Function
    inputs::Function
    type::DataType
    target::Symbol
end

function program(name, type=Float64, target=:c)
    include(joinpath(@__DIR__, name * ".jl"))
    return Program(name, getfield(@__MODULE__, Symbol(name, '!')), getfield(@__MODULE__, Symbol(name, "_inputs")), type, target)
end

const ALL = [
    program("owners_on_threads"),
    program("owners_in_warps", Float64, :cuda),
    program("loops_of_a_copy"),
    program("tiles_of_a_transpose"),
    program("vectors_of_a_product"),
    program("skewed_sweep"),
    program("skewed_by_itself"),
    program("diamonds_of_a_sweep"),
    program("paths_in_pieces"),
    program("fused_with_a_delay"),
    program("shifted_by_hand"),
    program("statements_apart"),
    program("statements_in_order"),
    program("statements_swapped"),
    program("inlined_stage"),
    program("stage_in_tiles"),
    program("work_array_of_each_iteration"),
    program("lanes_left_to_the_compiler"),
    program("partial_sums", Int64),
    program("sizes_apart"),
    program("tessellas_choice"),
    program("loops_written_out"),
    program("hexagons_of_heat"),
    program("wavefronts_of_heat"),
    program("tiles_of_each_step"),
    program("overlapping_heat"),
    program("threads_of_a_copy", Float64, :cuda),
    program("streamed_heat", Float32, :cuda),
    program("heat_in_one_kernel", Float32, :cuda),
    program("heat_in_tiles", Float32, :cuda),
    program("counts_in_one_piece", Int32, :cuda),
    program("counts_of_blocks", Int32, :cuda),
    program("bins_of_columns", Int64),
]

# Zero and small sizes, around tiles, a prime.
const SIZES = (0, 1, 2, 3, 4, 5, 8, 9, 17, 37)

end
