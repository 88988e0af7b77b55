# Stencils on a GPU, under each shape: points updated a second.
#
#     ./x gpu --bench stencils [--only=heat2d,wave2d] [--shape=stream] [--each=3] [--steps=960] [--extents=8192x8192] [--repeat=5] [--jobs=12]
#
# Each program of tests/stencils is compared with plain Julia at small sizes first, then timed: without a schedule (what
# Tessella chooses, marked `auto`), a kernel for each nest and step (`space`), all steps in one kernel (`grid_sync`), and under the shapes that fit. GStencil/s
# counts the points that a step updates, once, over the time of the kernels. What cannot be compiled says so, and the
# others go on. With `--each=3` there are three of each kind of shape at most, from the first to the last. With `--jobs=12` as many processes
# compile side by side, of which one at a time uses the GPU for what is timed.
#
# "of step" is the share of what could be reached without time tiling, where each step reads and writes each of its arrays once at the rate of a
# copy; "of pass" that of what could be reached with it, where the steps of one pass do so together, and no faster than fused multiplications and
# additions are computed. Where arrays fit into the caches, either may be above 100 %.
module Stencils

using Printf
using Tessella
using ..Bench: LOCK, Plan, ceilings_line, counted, percent, profile_case
using ..Main: with_commands
import ..Examples, ..Case

const FOLDER = joinpath(@__DIR__, "..", "stencils")

include("fast_stencils.jl")

for file in sort(readdir(FOLDER))
    endswith(file, ".jl") && include(joinpath(FOLDER, file))
end

struct Program
    name::String
    f::Function
    T::DataType
    "arguments for extents and steps"
    arguments::Function
    extents::Tuple{Vararg{Int}}
    shapes::Vector{String}
    "whether two outcomes agree"
    agree::Function
end

Program(name, f, T, arguments, extents, shapes) = Program(name, f, T, arguments, extents, shapes, Examples.agree)

# Programs that take one extent for all.
const CUBES = ("jacobi3d27",)

filled(T, extents...) = T <: Integer ? rand(T(0):T(1), extents...) : rand(T, extents...)
# Arrays of the same extents, then the number of steps.
arrays(T, count) = (extents, steps) -> (ntuple(_ -> filled(T, extents...), count)..., steps)

# Fields, memories, coefficients, the source, the waves and the sums of four frequencies of an antenna; a quarter of the sides absorbs.
function antenna((nr, nz), steps)
    small(extents...) = rand(extents...) ./ 8
    fields = ntuple(_ -> small(nr, nz), 6)
    tables = (small(nr, nz, 12), small(nr, nz, 20), small(nr, nz, 12), small(nr, nz, 12))
    return (fields..., tables..., rand(steps), rand(2, 4, steps), zeros(nr, 2, 4, 6), min(nr, nz) ÷ 4, min(3, nr), (nz + 1) ÷ 2)
end

const PLANE, SPACE = (8192, 8192), (512, 512, 512)
const PLANE_TILES = ["space((S, R), t, (j, i), (8, 32))", "grid_sync((S, R), t, (j, i), (8, 32))",
                     "time_skew((S, R), t, (j, i), 2, (16, 32))",
                     ["hexagonal((S, R), t, (j, i), $height, ($width, $across))" for (height, width, across) in
                      ((1, 2, 128), (1, 4, 128), (3, 4, 32), (3, 8, 32), (3, 4, 64), (3, 8, 64), (5, 4, 32), (7, 8, 32), (7, 16, 32),
                       (11, 8, 32))]...,
                     "overlapped(S, t, (j, i), 4, (16, 32))", ["grid_sync(S, t, $steps)" for steps in (2, 4, 6)]...]
# Hexagons whose rows lie in registers; a step of radius 2 wants 4 points of the thread below.
const PLANE_HEXAGONS = ["hexagonal(S, t, $height, $width, 2, $threads, $tiles)" for (height, width, threads, tiles) in
                        ((3, 7, 256, 2), (5, 7, 256, 2), (5, 9, 256, 2), (7, 7, 256, 2), (3, 7, 256, 4), (4, 5, 256, 2), (5, 7, 128, 4))]
const WIDE_HEXAGONS = ["hexagonal(S, t, $height, $width, 4, $threads, $tiles)" for (height, width, threads, tiles) in
                       ((1, 5, 256, 2), (2, 5, 128, 2), (2, 7, 128, 2), (3, 7, 128, 2), (3, 5, 128, 4))]
const PLANE_STREAMS = ["stream(S, t, $steps, 4, $rows)" for steps in (2, 3, 4, 5, 6, 8) for rows in (64, 100, 144)]
const SPACE_TILES = ["space((S, R), t, (k, j, i), (2, 4, 32))", "grid_sync((S, R), t, (k, j, i), (2, 4, 32))",
                     "time_skew((S, R), t, (k, j, i), 2, (4, 4, 32))",
                     ["hexagonal((S, R), t, (k, j, i), 1, ($width, $across))" for (width, across) in ((2, 4), (2, 6), (4, 4))]...]
const SPACE_STREAMS = ["stream(S, t, $steps, $points, $rows, $lines)" for (steps, points, lines) in
                       ((1, 2, 4), (1, 2, 8), (1, 4, 4), (2, 2, 4), (2, 2, 8), (2, 4, 4), (3, 2, 4), (4, 2, 4)) for rows in (64, 128)]
# Hexagons whose planes lie in registers.
const SPACE_HEXAGONS = ["hexagonal(S, t, $height, $width, 2, $threads, $lines)" for (height, width, threads, lines) in
                        ((1, 7, 512, 2), (1, 5, 512, 2), (2, 3, 512, 2), (1, 3, 512, 3), (1, 3, 256, 4))]
# Where a step reaches two planes, or hands on numbers of eight bytes.
const FAR_HEXAGONS = ["hexagonal(S, t, 1, 2, 2, 384, 3)", "hexagonal(S, t, 1, 1, 2, 512, 2)"]
# Where a step reaches three points or four, which hexagons in registers do not hold.
const FAR_PLANE = ["space((S, R), t, (j, i), (8, 32))", "grid_sync((S, R), t, (j, i), (8, 32))", "time_skew((S, R), t, (j, i), 2, (16, 32))",
                   ["hexagonal((S, R), t, (j, i), $height, ($width, $across))" for (height, width, across) in ((1, 4, 64), (1, 8, 32), (3, 6, 32))]...,
                   "overlapped(S, t, (j, i), 1, (16, 32))",
                   ["stream(S, t, $steps, $points, $rows)" for (steps, points) in ((1, 4), (2, 4), (3, 4), (4, 4), (5, 4), (6, 4), (1, 8), (2, 8), (3, 8))
                    for rows in (64, 144)]...]
far_space(streams) = ["space((S, R), t, (k, j, i), (2, 4, 32))", "grid_sync((S, R), t, (k, j, i), (2, 4, 32))",
                      "time_skew((S, R), t, (k, j, i), 2, (4, 4, 32))", "hexagonal((S, R), t, (k, j, i), 1, (3, 2))",
                      ["stream(S, t, $steps, 4, $rows, $lines, $warps)" for (steps, lines, warps) in streams for rows in (64, 128, 256)]...]
const LINE_SHAPES = ["space((S, R), t, i, 256)", "grid_sync((S, R), t, i, 256)", "hexagonal((S, R), t, i, 7, 200)", "time_skew((S, R), t, i, 8, 256)",
                     ["stream(S, t, $steps, $points)" for steps in (4, 8, 16) for points in (4, 8)]...]

const ALL = [
    Program("laplacian2d", laplacian2d!, Float32, arrays(Float32, 2), PLANE, [PLANE_TILES; WIDE_HEXAGONS; PLANE_STREAMS]),
    Program("heat2d", heat2d!, Float32, arrays(Float32, 2), PLANE, [PLANE_TILES; PLANE_HEXAGONS; PLANE_STREAMS]),
    Program("gradient2d", gradient2d!, Float32, arrays(Float32, 2), PLANE, [PLANE_TILES; PLANE_HEXAGONS; PLANE_STREAMS]),
    Program("jacobi2d9", jacobi2d9!, Float32, arrays(Float32, 2), PLANE, [PLANE_TILES; PLANE_HEXAGONS; PLANE_STREAMS]),
    Program("star2d2r", star2d2r!, Float32, arrays(Float32, 2), PLANE, [PLANE_TILES; WIDE_HEXAGONS; PLANE_STREAMS]),
    Program("life", life!, Int32, arrays(Int32, 2), PLANE, [PLANE_TILES; PLANE_HEXAGONS; PLANE_STREAMS]),
    Program("wave2d", wave2d!, Float64, arrays(Float64, 3), PLANE,
            ["space(N, t, (j, i), (8, 32))", "grid_sync(N, t, (j, i), (8, 32))", "hexagonal((N, O, C), t, (j, i), 2, (3, 32))",
             "time_skew(N, t, (j, i), 2, (16, 32))", "stream(N, t, 2, 2, 64)", "stream(N, t, 4, 2, 64)", "stream(N, t, 2, 4, 64)",
             "hexagonal(N, t, 2, 5)", "hexagonal(N, t, 3, 7)"]),
    Program("fdtd2d", fdtd2d!, Float64,
            (extents, steps) -> (ntuple(_ -> rand(extents...), 3)..., rand(steps)), PLANE,
            ["space(HZ, t, (j, i), (8, 32))", "grid_sync(HZ, t, (j, i), (8, 32))", "time_skew(HZ, t, (j, i), 2, (16, 32))",
             ["stream(F, t, $steps, $points)" for (steps, points) in ((3, 2), (4, 2), (5, 2), (6, 2), (7, 2), (8, 2), (10, 2), (3, 4))]...]),
    Program("swapped2d", swapped2d!, Float32, arrays(Float32, 2), PLANE,
            ["space(S, t, (j, i), (8, 32))", ["stream(S, t, $steps, 4)" for steps in (2, 3, 4, 5, 6)]..., "hexagonal(S, t, 3, 7)"]),
    Program("edges2d", edges2d!, Float32,
            (extents, steps) -> (ntuple(_ -> rand(Float32, extents...), 2)..., rand(Float32, steps), 0.2f0), PLANE,
            ["stream(S, t, $steps, $points)" for (steps, points) in ((2, 4), (3, 4), (4, 4), (6, 4), (2, 2), (3, 2), (4, 2), (6, 2))]),
    Program("acoustic2d", acoustic2d!, Float32,
            (extents, steps) -> (ntuple(_ -> rand(Float32, extents...), 4)..., rand(Float32, steps)), PLANE,
            ["space((X, P), t, (j, i), (8, 32))",
             ["stream(X, t, $steps, $points)" for (steps, points) in ((2, 4), (3, 4), (4, 4), (5, 4), (6, 4), (8, 4), (4, 2), (6, 2), (8, 2), (10, 2), (12, 2))]...]),
    Program("listening2d", listening2d!, Float32,
            ((m, n), steps) -> (ntuple(_ -> rand(Float32, m, n), 4)..., rand(Float32, steps), zeros(Float32, steps), m ÷ 3 + 1, n ÷ 2 + 1), PLANE,
            ["space((X, P), t, (j, i), (8, 32))", ["stream(X, t, $steps, $points)" for (steps, points) in ((4, 4), (6, 4), (8, 2), (10, 2))]...,
             "grid_sync(X, t, 2, 4, 9)"]),
    # A picture of every step, so that no step is cheaper than its picture.
    Program("receivers2d", receivers2d!, Float32,
            ((m, n), steps) -> (rand(Float32, m, n), rand(Float32, m, n), zeros(Float32, m, steps), zeros(Float32, m, n), zeros(Float32, m, n, steps),
                                rand(Float32, steps), n ÷ 2 + 1), (2048, 2048),
            ["space((S, Q), t, (j, i), (8, 32))", ["stream(S, t, $steps, 4)" for steps in (2, 4, 6, 8)]..., "grid_sync(S, t, 2, 4, 11)"]),
    Program("levels2d", levels2d!, Float32,
            ((m, n), steps) -> (rand(Float32, m, n, 3), rand(Float32, m, n) ./ 8, rand(Float32, steps + 2), zeros(Float32, m, steps + 2), n ÷ 2 + 1), PLANE,
            ["space(S, t, (j, i), (8, 32))", ["stream(S, t, $steps, $points)" for (steps, points) in ((1, 4), (2, 4), (3, 4), (4, 4), (4, 2))]...,
             "grid_sync(S, t, 1, 4, 9)"]),
    Program("reaction2d", reaction2d!, Float64,
            (extents, steps) -> (ntuple(_ -> rand(extents...) ./ 8, 4)..., 0.06, 0.062, steps), PLANE,
            ["space((S, R), t, (j, i), (8, 32))"]),
    Program("reaction_levels2d", reaction_levels2d!, Float64,
            (extents, steps) -> (rand(extents..., 2), rand(extents..., 2) ./ 4, 0.06, 0.062, steps), PLANE,
            ["space((S, R), t, (j, i), (8, 32))", ["stream(S, t, $steps, 2)" for steps in (2, 3, 4, 5, 6)]...]),
    Program("waves3d", waves3d!, Float32,
            (extents, steps) -> (ntuple(_ -> rand(Float32, extents...), 3)..., rand(Float32, steps), 0.1f0), SPACE,
            ["space(S, t, (k, j, i), (2, 4, 32))",
             ["stream(S, t, $size)" for size in ("1, 2, 0, 4", "1, 2, 0, 4, 12", "2, 2, 0, 4", "2, 2, 0, 4, 12", "1, 4, 0, 2, 12")]...]),
    Program("fdtd_antenna", fdtd_antenna!, Float64, antenna, (400, 400),
            ["space((Er, Hr), t, (j, i), (8, 32))", "grid_sync((Er, Hr), t, (j, i), (8, 32))", "overlapped(Er, t, (j, i), 2, (8, 8))"]),
    Program("rim3d", rim3d!, Float64, (extents, steps) -> (rand(extents...), rand(extents...), rand(steps), 0.1), SPACE,
            ["space((S, C), t, (k, j, i), (2, 4, 32))", "overlapped(S, t, (k, j, i), 2, (4, 4, 8))", "stream(S, t, 2, 2, 16)"]),
    Program("laplacian3d", laplacian3d!, Float32, arrays(Float32, 2), SPACE, [SPACE_TILES; SPACE_HEXAGONS; SPACE_STREAMS]),
    Program("jacobi3d27", jacobi3d27!, Float32, arrays(Float32, 2), SPACE, [SPACE_TILES[1:3]; SPACE_HEXAGONS; SPACE_STREAMS]),
    Program("gradient3d", gradient3d!, Float32, arrays(Float32, 2), SPACE, [SPACE_TILES; SPACE_HEXAGONS; SPACE_STREAMS]),
    Program("heat3d", heat3d!, Float64, arrays(Float64, 2), SPACE, [SPACE_TILES; "stream(S, t, 1, 2, 64, 8)"]),
    Program("box2d2r", box2d2r!, Float32, arrays(Float32, 2), PLANE, [PLANE_TILES[1]; WIDE_HEXAGONS; PLANE_STREAMS]),
    Program("star3d2r", star3d2r!, Float32, arrays(Float32, 2), SPACE, [SPACE_TILES[1]; FAR_HEXAGONS; SPACE_STREAMS]),
    [Program(name, f, Float32, arrays(Float32, 2), PLANE, FAR_PLANE)
     for (name, f) in (("star2d3r", star2d3r!), ("star2d4r", star2d4r!), ("box2d3r", box2d3r!), ("box2d4r", box2d4r!))]...,
    Program("star3d3r", star3d3r!, Float32, arrays(Float32, 2), SPACE,
            far_space(((1, 4, 8), (1, 4, 6), (1, 4, 4), (1, 3, 8), (1, 6, 4), (1, 8, 3), (2, 4, 4)))),
    Program("star3d4r", star3d4r!, Float32, arrays(Float32, 2), SPACE, far_space(((1, 4, 6), (1, 4, 4), (1, 5, 5), (1, 6, 4)))),
    [Program("fast_$name", getfield(FastStencils, Symbol("fast_$(name)!")), Float32, arrays(Float32, 2), extents, streams, FastStencils.agree)
     for (names, extents, streams) in ((("star2d1r", "box2d1r", "gradient2d"), PLANE, [PLANE_HEXAGONS; PLANE_STREAMS]),
                                       (("star2d2r", "box2d2r"), PLANE, [WIDE_HEXAGONS; PLANE_STREAMS]),
                                       (("star3d1r", "box3d1r"), SPACE, [SPACE_HEXAGONS; SPACE_STREAMS]),
                                       (("star3d2r",), SPACE, [FAR_HEXAGONS; SPACE_STREAMS])) for name in names]...,
    Program("jacobi1d", jacobi1d!, Float64, arrays(Float64, 2), (1 << 26,), LINE_SHAPES),
    # Axes that go round.
    [Program(name, f, T, arrays(T, 2), PLANE, ["space((S, R), t, (j, i), (8, 32))", PLANE_STREAMS...])
     for (name, f, T) in (("torus2d", torus2d!, Float32), ("torus_life", torus_life!, Int32))]...,
    # Loops over neighbours.
    [Program(name, f, Int32, (extents, steps) -> (rand(Int32[0, 1], extents...), zeros(Int32, extents...), steps), PLANE,
             ["space((S, R), t, (j, i), (8, 32))", PLANE_STREAMS...])
     for (name, f) in (("life_by_offsets", life_by_offsets!), ("life_inside", life_inside!), ("life_summed", life_summed!))]...,
    # Points with branches.
    Program("life_in_branches", life_in_branches!, Int32, (extents, steps) -> (rand(Int32[0, 1], extents...), zeros(Int32, extents...), steps), PLANE,
            ["space((S0, S1), t, (j, i), (8, 32))", ["stream(S0, t, $size)" for size in ("2, 4", "4, 2", "4, 4", "6, 2")]...]),
    Program("limited1d", limited1d!, Float64, (extents, steps) -> (rand(extents...), rand(extents...), 0.4, steps), (1 << 26,),
            ["stream(S0, t, 4, 2)", "stream(S0, t, 8, 2)"]),
    Program("obstacles2d", obstacles2d!, Float32,
            (extents, steps) -> (rand(Float32, extents...), rand(Float32, extents...), Array(rand(extents...) .< 0.2), 0.1f0, steps), PLANE,
            ["space(S0, t, (j, i), (8, 32))", ["stream(S0, t, $size)" for size in ("2, 4", "4, 4", "6, 4", "8, 4")]...]),
    Program("metal2d", metal2d!, Float64,
            (extents, steps) -> (rand(extents...), zeros(extents...), zeros(extents...), Array(rand(extents...) .< 0.2), 0.4, steps), PLANE,
            ["space(S0, t, (j, i), (8, 32))", ["stream(S0, t, $size)" for size in ("4, 2", "6, 2", "8, 2", "10, 2")]...]),
    # Components along the last axis, steps inside of another loop, and levels that take turns by `mod1`.
    Program("components2d", components2d!, Float64, (extents, steps) -> (rand(extents..., 3), rand(extents..., 3), 0.1, steps), PLANE,
            ["space(S0, t, (j, i), (8, 32))", ["stream(S0, t, $size)" for size in ("1, 2", "2, 2", "3, 2")]...]),
    Program("metal_components2d", metal_components2d!, Float64,
            (extents, steps) -> (rand(extents...), 0.1 .* rand(extents..., 2), 0.4 .* rand(extents..., 2), Array(rand(extents...) .< 0.2), steps), PLANE,
            ["space(S0, t, (j, i), (8, 32))", ["stream(S0, t, $size)" for size in ("2, 2", "4, 2", "6, 2")]...]),
    Program("frames2d", frames2d!, Float64,
            (extents, steps) -> (rand(extents...), zeros(extents...), zeros(extents..., 2), 0.1, steps ÷ 2), PLANE,
            ["space((S, R), t, (j, i), (8, 32)); auto()", ["stream(S, t, $size); auto()" for size in ("4, 2", "4, 4", "8, 4")]...]),
    Program("turns_of_three2d", turns_of_three2d!, Float32, (extents, steps) -> (rand(Float32, extents..., 3), 0.1f0, steps), PLANE,
            ["space(S0, t, (j, i), (8, 32))", ["stream(S0, t, $size)" for size in ("1, 2", "2, 2", "1, 4")]...]),
    Program("offsets2d", offsets2d!, Float32, (extents, steps) -> (rand(Float32, extents...), zeros(Float32, extents...), 0.1f0, steps), PLANE,
            ["space((S, R), t, (j, i), (8, 32))", "overlapped(S, t, (j, i), 2, (8, 8))", PLANE_STREAMS...]),
    Program("torus_swapped2d", torus_swapped2d!, Float64, arrays(Float64, 3), PLANE, ["space(S, t, (j, i), (8, 32))", "stream(S, t, 2, 2)", "stream(S, t, 4, 2)"]),
    Program("channel2d", channel2d!, Float64, (extents, steps) -> (rand(extents...), rand(extents...), 0.01, steps), PLANE,
            ["space((S, R), t, (j, i), (8, 32))", ["stream(S, t, $steps, 2)" for steps in (2, 4, 6, 8)]...]),
    Program("reaction_torus2d", reaction_torus2d!, Float32,
            (extents, steps) -> (rand(Float32, extents...), rand(Float32, extents...) ./ 4, 0.06f0, 0.062f0, steps), PLANE,
            ["stream(U, t, $size)" for size in ("2, 4", "4, 4", "4, 2", "6, 2")]),
    Program("torus3d", torus3d!, Float32, arrays(Float32, 2), SPACE,
            ["space(S, t, (k, j, i), (2, 4, 32))", ["stream(S, t, $size)" for size in ("1, 2, 0, 4", "2, 2, 0, 4", "2, 2, 0, 4, 12")]...]),
    Program("torus_box3d", torus_box3d!, Float64, arrays(Float64, 2), SPACE,
            ["space((S, R), t, (k, j, i), (2, 4, 32))", ["stream(S, t, $size)" for size in ("1, 2, 0, 4", "2, 2, 0, 4")]...]),
    Program("ring1d", ring1d!, Float64, (extents, steps) -> (rand(extents...), rand(extents...), 0.1, steps), (1 << 26,),
            ["space((S, R), t, i, 256)", ["stream(S, t, $steps, 4)" for steps in (4, 8, 12)]...]),
]

# Points that a step updates: those of all extents, rims included, once for a copy back, twice for two sweeps.
const SWEEPS = Dict("laplacian2d" => 2, "heat3d" => 2, "jacobi1d" => 2)

# Arrays whose points a step reads, coefficients included, and those that it leaves to the next one, where these are not one and one; not
# known where tables have planes for some points only.
const MOVED = Dict("wave2d" => (2, 2), "fdtd2d" => (3, 3), "acoustic2d" => (4, 3), "listening2d" => (4, 3), "receivers2d" => (2, 3), "levels2d" => (3, 1),
                   "obstacles2d" => (2, 1), "metal2d" => (3, 3), "components2d" => (3, 3), "metal_components2d" => (4, 3), "turns_of_three2d" => (2, 1),
                   "reaction2d" => (2, 2), "reaction_levels2d" => (2, 2), "waves3d" => (2, 1), "torus_swapped2d" => (2, 1), "reaction_torus2d" => (2, 2),
                   "fdtd_antenna" => nothing)

# Iterations of the time loop that one step of a schedule is, where arrays change places.
const TURNS = Dict("swapped2d" => 2, "edges2d" => 2, "reaction2d" => 2, "reaction_levels2d" => 2, "waves3d" => 3, "levels2d" => 3, "torus_swapped2d" => 2, "torus3d" => 2,
                   "obstacles2d" => 2, "components2d" => 2, "turns_of_three2d" => 3)

# Bytes that a step moves for each point at least.
function step_bytes(program)
    moved = get(MOVED, program.name, (1, 1))
    return moved === nothing ? nothing : sum(moved) * sizeof(program.T)
end

# Steps of the time loop, as the schedule has them, that a shape makes in one pass over the arrays, at most; `nothing` for one of each nest.
function steps_of_pass(shape)
    # Blocks that keep their tiles make all of them.
    occursin(r"^grid_sync\(\w+, t, \d", shape) && return Inf
    found = match(r"^(\w+)\(\(?([\w, ]*?)\)?, t, (?:\(?[ijk][ijk, ]*\)?, )?(\d+)", shape)
    found === nothing && return nothing
    word, names, number = found[1], split(found[2], ','), parse(Int, found[3])
    word in ("stream", "time_skew", "overlapped") && return number
    word == "hexagonal" || return nothing
    # Those that name dimensions count the nests of a step one by one.
    return (2number + 2) / (occursin(r", t, \d", shape) ? 1 : length(names))
end

# The same of Tessella's choice, by its schedule: that of the loop for large arrays comes first.
function steps_of_choice(schedule)
    found = match(r"(?:# |else )(stream|hexagonal)\((\d+)", schedule)
    return found === nothing ? nothing : steps_of_pass("$(found[1])(S, t, $(found[2]))")
end

# Points a second at most: `steps` are those of one pass, `seconds` what the operations of a point take at least.
step_roof(bandwidth, bytes) = bandwidth / bytes
pass_roof(bandwidth, bytes, steps, seconds) = min(bandwidth * steps / bytes, 1 / seconds)

# Seconds that the operations of a call take at least, counted by the model.
function arithmetic(profile)
    float32, float64 = counted(profile, :float32), counted(profile, :float64)
    return float32 === nothing || float64 === nothing ? nothing : float32 / profile.float32_ceiling + float64 / profile.float64_ceiling
end

# The shares of both roofs, `nothing` where one is not known. `seconds` are what the operations of a point take.
function shares(program, steps, rate, bandwidth, seconds)
    bytes = step_bytes(program)
    bytes === nothing && return nothing, nothing
    together = steps === nothing ? 1 : steps * get(TURNS, program.name, 1) * get(SWEEPS, program.name, 1)
    of_pass = seconds === nothing ? nothing : rate / pass_roof(bandwidth, bytes, together, seconds)
    return rate / step_roof(bandwidth, bytes), of_pass
end

struct Options
    "names of programs; all if there is none"
    only::Vector{String}
    shape::String
    "shapes of a kind at most"
    each::Int
    "which of the shapes that are left, by number"
    part::Union{Nothing,UnitRange{Int}}
    steps::Int
    repeat::Int
    "those of the program where none are given"
    extents::Union{Nothing,Tuple{Vararg{Int}}}
    jobs::Int
end

function Options(arguments)
    known = ("only", "shape", "each", "part", "steps", "extents", "repeat", "jobs")
    for argument in arguments
        any(name -> startswith(argument, "--$name="), known) || error("--bench stencils does not know `$argument`")
    end
    option(name, default) = (given = filter(it -> startswith(it, "--$name="), arguments); isempty(given) ? default :
                             given[end][length(name)+4:end])
    number(name, default) = parse(Int, option(name, default))
    numbers(text, separator) = map(it -> parse(Int, it), split(text, separator))
    part, extents = option("part", ""), option("extents", "")
    return Options(split(option("only", ""), ','; keepempty = false), option("shape", ""), number("each", "1000"), isempty(part) ? nothing : (:)(numbers(part, ':')...),
                   number("steps", "960"), number("repeat", "3"), isempty(extents) ? nothing : Tuple(numbers(extents, 'x')),
                   number("jobs", "1"))
end

# What is asked for of a program: Tessella's choice, then shapes, `each` of a kind at most, from the first to the last.
function shapes_of(program, options)
    wanted = filter(it -> startswith(it, options.shape), program.shapes)
    spread(count, last) = [1 + k * (last - 1) ÷ max(count - 1, 1) for k in 0:count-1]
    some(all) = all[spread(min(options.each, length(all)), length(all))]
    return ["auto"; [shape for one in unique(kind, wanted) for shape in some(filter(it -> kind(it) == kind(one), wanted))]]
end

# One line of the table.
struct Measured
    name::String
    type::String
    extents::String
    steps::Int
    shape::String
    rate::Float64
    of_step::Union{Nothing,Float64}
    of_pass::Union{Nothing,Float64}
    text::String
end

const FIELDS = fieldnames(Measured)

row(line::Measured) =
    rpad(line.name, 14) * rpad(line.type, 9) * rpad(line.extents, 14) * rpad(line.shape, 46) * lpad(@sprintf("%.1f", line.rate), 9) *
    " GStencil/s " * lpad(percent(line.of_step), 7) * " of step " * lpad(percent(line.of_pass), 7) * " of pass  " * line.text

saved(line::Measured) = join((getfield(line, field) for field in FIELDS), '\t')

function read_line(text)
    value(::Type{String}, word) = String(word)
    value(::Type{T}, word) where {T} = word == "nothing" ? nothing : parse(T == Union{Nothing,Float64} ? Float64 : T, word)
    words = split(text, '\t')
    return Measured((value(fieldtype(Measured, at), words[at]) for at in 1:length(FIELDS))...)
end

function main(arguments)
    options = Options(arguments)
    unknown = setdiff(options.only, map(it -> it.name, ALL))
    isempty(unknown) || error("there is no stencil `$(first(unknown))`; there are $(join(map(it -> it.name, ALL), ", "))")
    chosen = filter(it -> isempty(options.only) || it.name in options.only, ALL)
    ceilings, lines = options.jobs > 1 ? side_by_side(chosen, options) : one_by_one(chosen, options)
    if options.part === nothing
        foreach(name -> println(verdict(filter(it -> it.name == name, lines))), unique(map(it -> it.name, lines)))
    end
    out = get(ENV, "OUT", "")
    isempty(out) || write(joinpath(out, "stencils.tsv"), join([ceilings; map(saved, lines)], '\n'), '\n')
    # Shapes may be refused where they do not fit; Tessella's choice may not.
    return !isempty(lines) && !any(it -> occursin("differs", it.text) || it.shape == "auto" && it.rate == 0 || it.text == FAILED, lines)
end

# Of a process that ended before it wrote what it timed.
const FAILED = "failed"

# How near Tessella's choice comes to the fastest shape that was timed.
function verdict(lines)
    rates = Dict(it.shape => it.rate for it in lines)
    best, shape = findmax(rates)
    return rpad(lines[1].name, 14) * @sprintf("auto reaches %.0f %% of the best shape, %s", 100 * get(rates, "auto", 0.0) / max(best, 1e-9), shape)
end

# What the GPU copies and computes, and the lines.
function one_by_one(programs, options)
    ceilings, lines = "", Measured[]
    for program in programs
        large = options.extents === nothing ? program.extents : options.extents
        # Tiles that overlap compute some points again: what counts are those that the program has to, by the first shape.
        seconds = nothing
        shapes = shapes_of(program, options)
        options.part === nothing || (shapes = shapes[options.part])
        for shape in shapes
            rate, text, profile, work, together = measure(program, shape, large, options.steps, options.repeat)
            seconds === nothing && (seconds = work)
            of_step, of_pass = profile === nothing ? (nothing, nothing) :
                               shares(program, together, 1e9rate, profile.copy_ceiling, seconds)
            if profile !== nothing && isempty(ceilings)
                ceilings = ceilings_line(profile)
                println(ceilings)
            end
            line = Measured(program.name, string(program.T), join(large, 'x'), options.steps, shape, rate, of_step, of_pass, text)
            push!(lines, line)
            println(row(line))
            flush(stdout)
        end
    end
    return ceilings, lines
end

const RUN = joinpath(@__DIR__, "run.jl")
# Shapes that one process compiles and times.
const TOGETHER = 5

# The same by several processes, whose times are taken one after the other.
function side_by_side(programs, options)
    parts = [(program, from:min(from + TOGETHER - 1, length(shapes_of(program, options))))
             for program in programs for from in 1:TOGETHER:length(shapes_of(program, options))]
    mktempdir() do folder
        texts = asyncmap(enumerate(parts); ntasks = options.jobs) do (number, (program, part))
            own = mkpath(joinpath(folder, string(number)))
            extents = options.extents === nothing ? String[] : ["--extents=$(join(options.extents, 'x'))"]
            command = `$(Base.julia_cmd()) --project=$(Base.active_project()) $RUN --bench stencils --only=$(program.name)
                       --shape=$(options.shape) --each=$(options.each) --part=$(first(part)):$(last(part)) --steps=$(options.steps)
                       --repeat=$(options.repeat) $extents`
            with_lock = setenv(command, merge(Dict(ENV), Dict("OUT" => own, LOCK => joinpath(folder, "lock"))))
            # A difference makes it fail; the line says so.
            run(pipeline(ignorestatus(with_lock); stdout = joinpath(own, "log"), stderr = joinpath(own, "log"), append = true))
            print(read(joinpath(own, "log"), String))
            flush(stdout)
            saved = joinpath(own, "stencils.tsv")
            return isfile(saved) ? readlines(saved) : ["", "$(program.name)\t$(program.T)\t-\t$(options.steps)\tpart $part\t0.0\tnothing\tnothing\t$FAILED"]
        end
        ceilings = filter(!isempty, map(first, texts))
        return isempty(ceilings) ? "" : first(ceilings), [read_line(line) for text in texts for line in text[2:end]]
    end
end

# Where some warps of every shape lie inside of the arrays, away from all rims, and launches take all their steps.
const WITH_INNER = 300
# Where a tile of a block's threads lies inside, too.
const WITH_WHOLE_TILES = 1100

# Makes arguments of about `n` points along each axis, for five steps; for more where `n` is large.
function small(program)
    space(n) = program.name in CUBES ? (n, n, n) : (n + 2, n, n + 1)
    steps(n) = n < WITH_INNER ? 5 : 21
    return (T, n) -> program.arguments(length(program.extents) == 3 ? space(n ÷ 4 + 7) : map(_ -> n, program.extents), steps(n))
end

# What shape a command asks for: `hexagonal(S, t, 5, 7)` keeps rows in registers.
kind(command) = occursin(r"^hexagonal\(\w+, t, \d", command) ? "hexagonal_registers" : first(split(command, '('))

# Each program under Tessella's own schedule, and under the first of its shapes of each kind.
function cases()
    all = Case[]
    for program in ALL
        kinds = unique(kind, program.shapes)
        for shape in ["", kinds...]
            name = isempty(shape) ? "stencil_$(program.name)" : "stencil_$(program.name)_$(kind(shape))"
            sizes = [1, 2, 17, 64, 67, WITH_INNER]
            endswith(name, "registers") && push!(sizes, WITH_WHOLE_TILES)
            push!(all, Case(name, program.f, small(program), DataType[program.T], sizes,
                            program.agree,
                            program.extents, small(program), shape))
        end
    end
    return all
end

# Tessella's own schedule, as text.
schedule_of(program) = string(Tessella.code_schedule(program.f, map(typeof, small(program)(program.T, 1))))

# GStencil/s, a word on the check, what was measured, the seconds that the operations of a point take, and the steps of one pass.
function measure(program, shape, large, steps, repeat)
    at(T, extents...) = program.arguments(extents, steps)
    case = Case(program.name, program.f, small(program), DataType[program.T], Int[], program.agree, large, at)
    plan = Plan(String["--repeat=$repeat"])
    try
        profiled() = profile_case(plan, case, program.T)
        profile, checked = shape == "auto" ? profiled() : with_commands(profiled, program.f, shape, "$(program.name).jl")
        points = float(prod(large)) * steps * get(SWEEPS, program.name, 1)
        work = arithmetic(profile)
        together = shape == "auto" ? steps_of_choice(schedule_of(program)) : steps_of_pass(shape)
        return points / profile.kernels_time / 1e9, checked, profile, work === nothing ? nothing : work / points, together
    catch failure
        return 0.0, first(split(sprint(showerror, failure), '\n')), nothing, nothing, nothing
    end
end

end
