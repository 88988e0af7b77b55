//! Tiles are counted over their points as isl counts them as sets, for every stencil of `stencils`.

use std::fs;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::pipeline;
use tessella_polyhedral::algorithm::{Algorithm, ComputationId};
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::models::tiles::Approach;
use tessella_polyhedral::models::tiles::rank::{Trust, Way, count_tile, count_tile_by, rank};
use tessella_polyhedral::models::tiles::rows::{RowCost, rows};
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
        let dimensions = algorithm.computations[0].iterators.len() - 1;
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
    for name in ["heat2d", "heat3d", "jacobi3d27", "seidel2d", "star2d2r", "wave1d_levels"] {
        assert!(quick.iter().any(|it| it == name), "{name} is not counted over its points, but {quick:?} are");
    }
}
