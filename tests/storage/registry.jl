"""
Programs with storage commands: `Storage.ALL`.

Each is a `@tessella` function with its `@schedule`, `inputs(T, n)` that makes its arguments, its element types, and the
target that the schedule is for.
"""
module Storage

struct Program
    name::String
    f::Function
    inputs::Function
    types::Vector{DataType}
    target::Symbol
end

for file in ("gemm_tiles", "gemm_registers", "triangle_registers", "gemm_apart", "gemm_groups", "blur_rows", "heat_tiles", "conv_tiles", "conv_constant", "ring", "around_rows", "blur_tiles",
             "taps_constant", "blur_compute_at", "heat_overlapped", "copies_in_a_loop", "barriers_by_hand", "memory_by_phases", "prefetch_a_column",
             "sums_ahead", "heat_columns", "copies_around_a_loop", "even_and_odd", "own_elements",
             "strided_threads", "gemm_wide", "sums_far_ahead", "blur_footprint", "planes_footprint")
    include(file * ".jl")
end

const ALL = [
    Program("gemm_tiles", gemm_tiles!, gemm_tiles_inputs, DataType[Float32], :cuda),
    Program("gemm_registers", gemm_registers!, gemm_registers_inputs, DataType[Float64], :cuda),
    Program("triangle_registers", triangle_registers!, triangle_registers_inputs, DataType[Float64], :cuda),
    Program("gemm_apart", gemm_apart!, gemm_apart_inputs, DataType[Float64], :cuda),
    Program("gemm_groups", gemm_groups!, gemm_groups_inputs, DataType[Float64], :cuda),
    Program("blur_rows", blur_rows!, blur_rows_inputs, DataType[Float64], :c),
    Program("heat_tiles", heat_tiles!, heat_tiles_inputs, DataType[Float32], :cuda),
    Program("conv_tiles", conv_tiles!, conv_tiles_inputs, DataType[Float32], :cuda),
    Program("conv_constant", conv_constant!, conv_constant_inputs, DataType[Float32], :cuda),
    Program("ring", ring!, ring_inputs, DataType[Float64], :c),
    Program("around_rows", around_rows!, around_rows_inputs, DataType[Float64], :c),
    Program("blur_tiles", blur_tiles!, blur_tiles_inputs, DataType[Float64], :c),
    Program("taps_constant", taps_constant!, taps_constant_inputs, DataType[Float64], :c),
    Program("blur_compute_at", blur_compute_at!, blur_compute_at_inputs, DataType[Float32], :cuda),
    Program("copies_in_a_loop", copies_in_a_loop!, copies_in_a_loop_inputs, DataType[Float32], :cuda),
    Program("copies_around_a_loop", copies_around_a_loop!, copies_around_a_loop_inputs, DataType[Float32], :cuda),
    Program("strided_threads", strided_threads!, strided_threads_inputs, DataType[Float32], :cuda),
    Program("own_elements", own_elements!, own_elements_inputs, DataType[Float32], :cuda),
    Program("even_and_odd", even_and_odd!, even_and_odd_inputs, DataType[Float64], :c),
    Program("barriers_by_hand", barriers_by_hand!, barriers_by_hand_inputs, DataType[Float32], :cuda),
    Program("memory_by_phases", memory_by_phases!, memory_by_phases_inputs, DataType[Float64], :c),
    Program("prefetch_a_column", prefetch_a_column!, prefetch_a_column_inputs, DataType[Float64], :c),
    Program("sums_ahead", sums_ahead!, sums_ahead_inputs, DataType[Float64], :cuda),
    Program("heat_overlapped", heat_overlapped!, heat_overlapped_inputs, DataType[Float32], :cuda),
    Program("heat_columns", heat_columns!, heat_columns_inputs, DataType[Float32], :cuda),
    Program("gemm_wide", gemm_wide!, gemm_wide_inputs, DataType[Float64], :cuda),
    Program("sums_far_ahead", sums_far_ahead!, sums_far_ahead_inputs, DataType[Float64], :cuda),
    Program("blur_footprint", blur_footprint!, blur_footprint_inputs, DataType[Float32], :cuda),
    Program("planes_footprint", planes_footprint!, planes_footprint_inputs, DataType[Float64], :cuda),
]

# Zero and small sizes, around tiles, a prime.
const SIZES = (1, 2, 3, 4, 5, 8, 9, 17, 33)

end
