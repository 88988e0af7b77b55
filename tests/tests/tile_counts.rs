//! Tiles are counted over their points as isl counts them as sets, for every stencil of `stencils`.

use std::collections::BTreeSet;
use std::fs;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::model::{Answers, IterationOptions, given_tile, tiles_of_loop};
use tessella::pipeline;
use tessella::request::Backend;
use tessella_polyhedral::algorithm::{Algorithm, ComputationId};
use tessella_polyhedral::dependence::dependences;
use tessella_polyhedral::isl::{Ctx, DimType, Val};
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::machine::Machine;
use tessella_polyhedral::models::tiles::fit::{Nests, Sizes};
use tessella_polyhedral::models::tiles::inside::{Inside, Moves};
use tessella_polyhedral::models::tiles::rank::{Trust, Way, count_tile, count_tile_by, rank, ranked_nests};
use tessella_polyhedral::models::tiles::rows::{RowCost, rows};
use tessella_polyhedral::models::tiles::scheduled::iterations;
use tessella_polyhedral::models::tiles::{Approach, Cost};
use tessella_polyhedral::time_tiling::{find, hexagonal};
use tessella_tests::{julia_files, root};

/// The algorithm of a stencil.
fn algorithm(ctx: &Ctx, name: &str) -> Algorithm {
    algorithm_of(ctx, &format!("stencils/{name}"))
}

fn algorithm_of(ctx: &Ctx, name: &str) -> Algorithm {
    let text = fs::read_to_string(root().join(format!("tests/{name}.jl"))).unwrap();
    let options = FileOptions { name: name.into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = Sources::read(&text, &options).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let lowered = pipeline::lower(ctx, &unit.function);
    lowered.unwrap_or_else(|errors| panic!("{}", sources.show(&errors))).algorithm
}

#[test]
fn tiles_of_rows_and_of_planes_move_what_their_neighbours_have() {
    for name in ["heat2d", "heat3d"] {
        let ctx = Ctx::new();
        let algorithm = algorithm(&ctx, name);
        let ids: Vec<ComputationId> = algorithm.ids().collect();
        let counted = rows(&ctx, &algorithm, &ids).unwrap().expect("all points are alike");
        // 64 rows of the first sweep read one more on either side, and leave what they compute to the second.
        let sweep = |id: ComputationId, _: i64| (id == ids[0]).then_some((0, 63));
        let first = counted.cost(1, &sweep).unwrap();
        assert_eq!(first, RowCost { loads: 66, stores: 64, useful: 64, footprint: 130 }, "{name}");
        // Most of that stays inside with the second.
        let both = counted.cost(1, &|_, _| Some((0, 63))).unwrap();
        assert_eq!(both.useful, 128, "{name}");
        assert!(both.moved() < 0.75 * first.moved(), "{name}: {both:?}");
        assert_eq!(counted.cost(1, &|_, _| Some((0, 200))), None, "{name} is not known so far from its middle");
    }
}

/// The best hexagons of a small memory, made by their command: an iteration of the innermost loop over tiles.
#[test]
fn hexagons_cost_what_isl_counts_of_their_command() {
    for (name, memory) in
        [("heat2d", 220), ("swapped2d", 200), ("wave2d", 260), ("star2d2r", 260), ("jacobi1d", 70), ("heat3d", 260)]
    {
        let ctx = Ctx::new();
        let algorithm = algorithm(&ctx, name);
        let all = dependences(&ctx, &algorithm).unwrap();
        let schedule = algorithm.source_order.clone();
        let (target, machine) = (Target::Cpu, Machine::GENERIC);
        let start = Scheduled { algorithm, schedule, target, machine, versions: vec![], scratch: BTreeSet::new() };
        let ranked = ranked_nests(&ctx, &start.algorithm, Nests::Stencils, Sizes::All, memory).unwrap();
        let [nest] = ranked.all.as_slice() else { panic!("{name} has one nest") };
        let found = find(&ctx, &start, &all, &nest.nest.computations, "t").unwrap().unwrap();
        let best =
            nest.hexagons.as_ref().unwrap().best(&found, memory).unwrap_or_else(|| panic!("{name} has hexagons"));
        assert!(best.counts.cost.memory <= memory, "{name}: {best:?}");
        let (names, dims) = (vec![found.computation.clone()], found.stencil.dims.clone());
        let widths: Vec<u32> = best.widths.iter().map(|&width| width as u32).collect();
        let (tiled, _) = hexagonal(&ctx, &start, &all, &names, "t", &dims, best.height as u32, &widths).unwrap();
        let innermost = format!("{}0", dims.last().unwrap());
        let params = vec![240; tiled.algorithm.params.len()];
        let made = iterations(&ctx, &tiled.algorithm, &tiled.schedule, &innermost, &params).unwrap();
        assert!(made.iter().any(|it| it.counts == best.counts), "{name}: {best:?}, {made:?}");
    }
}

#[test]
fn the_best_tile_may_have_few_time_steps() {
    let ctx = Ctx::new();
    let algorithm = algorithm(&ctx, "heat3d");
    let rankings = rank(&ctx, &algorithm, 4076).unwrap();
    let best = &rankings[0].ranked[0];
    let (three, _) = count_tile_by(&ctx, &algorithm, Approach::Skewed, &[9, 9, 10, 3], Way::Points).unwrap().unwrap();
    assert!(three.cost.memory <= 4076 && !three.cost.is_better_than(&best.candidate.cost), "{:?}", best.candidate);
    assert!(best.candidate.steps < 4 && best.candidate.cost.memory <= 4076 && best.trust == Trust::Exact, "{best:?}");
}

#[test]
fn ranked_tiles_lie_within_the_loops_and_are_counted() {
    for (name, memory, most) in [("durbin", 370, 239), ("durbin", 65536, 239), ("trmm", 65536, 240)] {
        let ctx = Ctx::new();
        let algorithm = algorithm_of(&ctx, &format!("polybench/{name}"));
        let rankings = rank(&ctx, &algorithm, memory).unwrap();
        let best = &rankings[0].ranked[0].candidate;
        assert!(best.sizes.iter().all(|&size| size <= most), "{name}: {best:?}");
        let counted = count_tile(&ctx, &algorithm, best.approach, &best.sizes).unwrap().unwrap();
        assert_eq!(counted.cost, best.cost, "{name} in {memory}");
        assert!(counted.cost.memory <= memory, "{name} in {memory}: {best:?}");
    }
}

#[test]
fn points_and_sets_give_the_same_counts() {
    let mut quick = vec![];
    for path in julia_files(&root().join("tests/stencils")) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        let ctx = Ctx::new();
        let algorithm = algorithm(&ctx, &name);
        let dimensions = algorithm.computations.iter().map(|it| it.iterators.len()).max().unwrap() - 1;
        for approach in Approach::ALL {
            let mut sizes = vec![5, 4, 3][3 - dimensions..].to_vec();
            sizes.extend((approach != Approach::Plain).then_some(2));
            let count = |way| count_tile_by(&ctx, &algorithm, approach, &sizes, way).unwrap();
            match (count(Way::Points), count(Way::Sets)) {
                (Ok((points, way)), Ok((sets, _))) => {
                    assert_eq!(points, sets, "{name} {approach:?} {sizes:?}");
                    quick.extend((way == Way::Points).then(|| name.clone()));
                }
                (points, sets) => assert_eq!(points.err(), sets.err(), "{name} {approach:?}"),
            }
        }
    }
    quick.dedup();
    for name in ["heat2d", "heat3d", "jacobi3d27", "seidel2d", "star2d2r", "swapped2d", "wave1d_levels"] {
        assert!(quick.iter().any(|it| it == name), "{name} is not counted over its points, but {quick:?} are");
    }
}

const SWEEP: &str = "\
function sweep!(B::Matrix{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        @comp S B[i, j] = 0.25 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
    end
end
";

const PRODUCT: &str = "\
function product!(C::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    for j in axes(C, 2), i in axes(C, 1), k in axes(A, 2)
        @comp U C[i, j] += A[i, k] * B[k, j]
    end
end
";

fn scheduled(commands: &str) -> FileOptions {
    let schedule = ScheduleSource::Text { text: commands.into(), name: "schedule".into() };
    FileOptions { name: "m.jl".into(), function: None, types: vec![], schedule }
}

/// What an iteration of a loop costs, as words of its line.
fn at(source: &str, commands: &str, loop_name: &str, sizes: &[(&str, i64)]) -> Result<Vec<String>, String> {
    let sizes = sizes.iter().map(|(name, value)| (name.to_string(), *value)).collect();
    let asked = IterationOptions { loop_name: loop_name.into(), sizes, backend: Backend::C };
    let Answers { text: told, refused } = tiles_of_loop(source, &scheduled(commands), &asked);
    if !refused.is_empty() {
        return Err(refused);
    }
    let line = told.lines().nth(3).or(told.lines().last()).unwrap_or_default();
    Ok(line.split_whitespace().map(str::to_string).collect())
}

#[test]
fn an_iteration_of_a_tile_loop_costs_what_the_tile_does() {
    let told = at(SWEEP, "tile(S, (j, i), (32, 32))", "i0", &[]).unwrap();
    let options = FileOptions { schedule: ScheduleSource::InFile, ..scheduled("") };
    let given = given_tile(SWEEP, &options, &[32, 32]).text;
    let given = given.lines().find(|it| it.trim().starts_with("plain")).unwrap();
    let given: Vec<&str> = given.split_whitespace().collect();
    assert_eq!(told[told.len() - 7..], given[given.len() - 7..]);
}

#[test]
fn a_block_of_a_product_reads_three_squares() {
    let told = at(PRODUCT, "tile(U, (j, i, k), (32, 32, 32))", "k0", &[]).unwrap();
    // Memory, loads, stores, useful results, footprint, instances.
    assert_eq!(told[told.len() - 6..], ["3072", "3072", "1024", "32768", "3072", "32768"]);
}

#[test]
fn an_iteration_of_a_loop_needs_the_loop_and_sizes() {
    let tile = "tile(S, (j, i), (32, 32))";
    let missing = at(SWEEP, tile, "k", &[]).unwrap_err();
    assert!(missing.contains("no loop `k`") && missing.contains("j0, i0, j1, i1"), "{missing}");
    assert!(at(SWEEP, tile, "i0", &[("q", 3)]).unwrap_err().contains("no size `q`"));
    let small = at(SWEEP, tile, "i0", &[("m", 2)]).unwrap();
    assert_eq!(small.join(" "), "it has none at these sizes");
}

#[test]
fn a_hexagon_runs_the_instances_that_lie_in_it() {
    let text = fs::read_to_string(root().join("tests/stencils/slanted1d.jl")).unwrap();
    let sources = Sources::read(&text, &scheduled("hexagonal(S, t, i, 2, 3)")).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(Backend::C).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let (algorithm, schedule) = (built.analysed.verified.algorithm(), built.analysed.verified.schedule());
    let params = vec![40; algorithm.params.len()];
    let counted = iterations(&built.ctx, algorithm, schedule, "i0", &params).unwrap();
    assert_eq!(counted.len(), 2, "two phases");
    for it in counted {
        let mut points = 0;
        for id in algorithm.ids().filter(|&id| it.computations.contains(&algorithm.computation(id).name)) {
            let mut domain = algorithm.computation(id).domain.clone();
            for dim in 0..params.len() as u32 {
                domain = domain.fix(DimType::Param, dim, &Val::from_i64(&built.ctx, 40).unwrap()).unwrap();
            }
            let around = schedule.loops_around(id);
            for (t, i) in (1..=40).flat_map(|t| (1..=40).map(move |i| (t, i))) {
                let value = |at: i64| Val::from_i64(&built.ctx, at).unwrap();
                let here = domain.fix(DimType::Set, 0, &value(t)).unwrap().fix(DimType::Set, 1, &value(i)).unwrap();
                let lies = it.at.iter().all(|(name, at)| {
                    let found = around.iter().find(|(_, it)| it.name == *name).unwrap();
                    found.1.at[&id].evaluate(&[t, i], &params) == Some(*at)
                });
                points += u64::from(lies && !here.is_empty().unwrap());
            }
        }
        assert!(points > 4, "{it:?}");
        assert_eq!(it.counts.run, points, "{it:?}");
    }
}

/// Two sweeps of a stencil whose arms are three elements long.
const LONG_ARMS: &str = "\
function arms!(A::Vector{Float64}, B::Vector{Float64}, steps::Int)
    n = length(A)
    for t in 1:steps
        for i in 4:n-3
            @comp S B[i] = A[i-3] + A[i] + A[i+3]
        end
        for i in 4:n-3
            @comp R A[i] = B[i]
        end
    end
end
";

fn algorithm_in(ctx: &Ctx, text: &str) -> Algorithm {
    let options = FileOptions { schedule: ScheduleSource::InFile, ..scheduled("") };
    let sources = Sources::read(text, &options).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    pipeline::lower(ctx, &unit.function).unwrap_or_else(|errors| panic!("{}", sources.show(&errors))).algorithm
}

#[test]
fn no_tile_is_better_where_values_come_from_afar() {
    let slanted = fs::read_to_string(root().join("tests/stencils/slanted1d.jl")).unwrap();
    for text in [slanted.as_str(), LONG_ARMS] {
        let ctx = Ctx::new();
        let algorithm = algorithm_in(&ctx, text);
        let memory = 300;
        let ranking = rank(&ctx, &algorithm, memory).unwrap().remove(0);
        let best = &ranking.ranked.iter().find(|it| it.candidate.approach == Approach::Skewed).unwrap().candidate;
        assert!(best.cost.memory <= memory, "{best:?}");
        for size in (1..150).step_by(7) {
            for steps in (1..40).step_by(3) {
                let sizes = [size, steps];
                let counted = count_tile_by(&ctx, &algorithm, Approach::Skewed, &sizes, Way::Points).unwrap().unwrap();
                let cost = counted.0.cost;
                assert!(cost.memory > memory || !cost.is_better_than(&best.cost), "{sizes:?} {cost:?} {best:?}");
            }
        }
    }
}

#[test]
fn boundaries_do_not_keep_loops_whole() {
    let ctx = Ctx::new();
    let ranking = rank(&ctx, &algorithm(&ctx, "fdtd2d"), 4076).unwrap().remove(0);
    assert_eq!((ranking.space.join(" "), ranking.whole.len()), ("j i".to_string(), 0));
    let best = &ranking.ranked[0];
    assert_eq!((best.candidate.sizes.as_slice(), best.candidate.steps), ([21, 21].as_slice(), 21));
    assert_eq!(best.candidate.cost.useful, 3 * 21 * 21 * 21, "of the line nothing lies in the middle");
    // Sets, which know the line, tell the same.
    let ctx = Ctx::new();
    let fdtd = algorithm(&ctx, "fdtd2d");
    let count = |way| count_tile_by(&ctx, &fdtd, Approach::Skewed, &[6, 7, 3], way).unwrap().unwrap();
    let ((points, by_points), (sets, _)) = (count(Way::Points), count(Way::Sets));
    assert_eq!((points, by_points), (sets, Way::Points));
}

#[test]
fn a_plain_tile_lies_where_time_steps_are() {
    // Its loop over time takes two steps at once.
    let ctx = Ctx::new();
    let swapped = algorithm(&ctx, "swapped2d");
    let counted = count_tile(&ctx, &swapped, Approach::Plain, &[20, 20]).unwrap().unwrap();
    assert_eq!((counted.cost.useful, counted.run), (800, 800));
}

#[test]
fn sums_in_variables_are_results() {
    let in_variable = "\
function product!(C::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    for j in axes(C, 2), i in axes(C, 1)
        w = 0.0
        for k in axes(A, 2)
            w += A[i, k] * B[k, j]
        end
        C[i, j] = w
    end
end
";
    let ctx = Ctx::new();
    let count = |text: &str, sizes: &[u64]| {
        count_tile(&ctx, &algorithm_in(&ctx, text), Approach::Plain, sizes).unwrap().unwrap().cost.useful
    };
    assert_eq!(count(PRODUCT, &[4, 4, 240]), 4 * 4 * 240);
    // Each element is written once more.
    assert_eq!(count(in_variable, &[4, 4]), 4 * 4 * 240 + 4 * 4);
}

/// What runs in one iteration of a loop of Tessella's own order, by its name, and what isl counts there at sizes of 600.
fn inside_and_at(name: &str, loop_name: &str) -> (Cost, Moves) {
    let text = fs::read_to_string(root().join(name)).unwrap();
    let options = FileOptions { name: name.into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = Sources::read(&text, &options).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(Backend::C).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let (algorithm, schedule) = (built.analysed.verified.algorithm(), built.analysed.verified.schedule());
    let params: Vec<i64> =
        algorithm.params.iter().map(|it| if it.name.starts_with("weights") { 5 } else { 600 }).collect();
    let at = iterations(&built.ctx, algorithm, schedule, loop_name, &params).unwrap().remove(0);
    let main = algorithm.find(at.computations.last().unwrap()).unwrap();
    let depth = schedule.loops_around(main).iter().position(|(_, it)| it.name == loop_name).unwrap() + 1;
    let inside = Inside::of(algorithm, schedule, main, depth).unwrap().expect("the loops have tiles");
    (at.counts.cost, inside.moves(&inside.sides).expect("the tile has few points"))
}

#[test]
fn boxes_inside_loops_move_what_isl_counts_there() {
    for (name, loop_name) in [
        ("tests/polybench/gemm.jl", "j10"),
        ("tests/polybench/gemm.jl", "i10"),
        ("tests/polybench/gemm.jl", "k1"),
        ("tests/polybench/2mm.jl", "i10"),
        ("tests/polybench/syrk.jl", "j10"),
        ("tests/polybench/syr2k.jl", "i10"),
        ("tests/polybench/correlation.jl", "i10"),
        ("examples/mttkrp.jl", "i10"),
        ("examples/conv5x5.jl", "j10"),
        ("examples/conv5x5.jl", "i10"),
    ] {
        let (counted, told) = inside_and_at(name, loop_name);
        assert_eq!(told.cost, counted, "{name} in {loop_name}");
        assert!(told.is_exact, "{name} in {loop_name}");
    }
}

#[test]
fn boxes_grow_in_straight_lines() {
    // A block of a product: as many elements of C as it has results, a strip of A and one of B.
    let text = fs::read_to_string(root().join("tests/polybench/gemm.jl")).unwrap();
    let options = FileOptions { name: "gemm".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = Sources::read(&text, &options).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(Backend::C).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let (algorithm, schedule) = (built.analysed.verified.algorithm(), built.analysed.verified.schedule());
    let inside = Inside::of(algorithm, schedule, algorithm.find("S1").unwrap(), 3).unwrap().unwrap();
    assert_eq!(inside.names, ["j", "k", "i"]);
    assert_eq!(inside.sides, [Some(60), Some(256), Some(128)]);
    for (j, k, i) in [(60, 256, 128), (1, 1, 1), (7, 300, 2), (1000, 9, 10)] {
        let moves = inside.moves(&[Some(j), Some(k), Some(i)]).unwrap();
        let (loads, stores) = (j * i + i * k + k * j, j * i);
        assert_eq!((moves.cost.loads, moves.cost.stores, moves.cost.useful), (loads, stores, j * k * i));
        assert_eq!((moves.loaded, moves.stored, moves.operations), (8 * loads, 8 * stores, 3 * j * k * i));
        assert!(moves.is_exact);
    }
}

#[test]
fn sizes_without_names_that_bound_loops_are_as_large_as_others() {
    let source = "\
function lcs!(L::Matrix{Int64}, a::Vector{Int64}, b::Vector{Int64}, w::Vector{Int64})
    for j in 2:size(L, 2), i in 2:size(L, 1)
        @comp S L[i, j] = a[i-1] == b[j-1] ? L[i-1, j-1] + w[5] : max(L[i-1, j], L[i, j-1])
    end
end
";
    let at = |sizes: &[(&str, i64)]| {
        let sizes = sizes.iter().map(|(name, value)| (name.to_string(), *value)).collect();
        let asked = IterationOptions { loop_name: "i0".into(), sizes, backend: Backend::C };
        tiles_of_loop(source, &scheduled("tile(S, (j, i), (32, 32))"), &asked).text
    };
    // What only has to be large enough is no larger.
    let told = at(&[]);
    assert!(told.starts_with("lcs!: an iteration of i0 at L_1=240, L_2=240, a_1=239, b_1=239, w_1=5\n"), "{told}");
    let told = at(&[("L_1", 100)]);
    assert!(told.starts_with("lcs!: an iteration of i0 at L_1=100, L_2=240, a_1=99, b_1=239, w_1=5\n"), "{told}");
}

#[test]
fn boxes_of_loops_that_go_down_have_their_sign() {
    let source = "\
function back!(A::Vector{Float64}, steps)
    for t in 1:steps, i in length(A)-1:-1:2
        A[i] = 0.25 * (A[i-1] + 2.0 * A[i] + A[i+1])
    end
end
";
    let options = FileOptions { schedule: ScheduleSource::InFile, ..scheduled("") };
    let told = given_tile(source, &options, &[32, 8]).text;
    assert!(told.contains("skewed: boxes of -i + t\n"), "{told}");
    let up = source.replace("length(A)-1:-1:2", "2:length(A)-1");
    let told = given_tile(&up, &options, &[32, 8]).text;
    assert!(told.contains("skewed: boxes of i + t\n"), "{told}");
}
