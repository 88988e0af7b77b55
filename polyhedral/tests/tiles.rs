//! The costs of tiles, counted point by point, are those of the formulas for the stencils that these are for.

mod common;

use common::{Statement, algorithm, for_loop, jacobi, leaf, pointwise};
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Algorithm, Subscript};
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::models::tiles::Approach;
use tessella_polyhedral::models::tiles::closed::{self, Cell, Held};
use tessella_polyhedral::models::tiles::rank::{Refused, Trust, count_tile, rank};

const CELL: Cell = Cell { computed: 1, read: 1, coefficients: 0 };

/// `H[mod(t, 2), i, j]` from the cell and its four neighbours in `H[mod(t + 1, 2), ...]`.
fn pseudo_jacobi(ctx: &Ctx) -> Algorithm {
    let at = |i: i64, j: i64| -> [(&'static [i64], i64); 3] { [(&[1, 0, 0], 0), (&[0, 1, 0], i), (&[0, 0, 1], j)] };
    let reads = [at(0, 0), at(-1, 0), at(1, 0), at(0, -1), at(0, 1)];
    let write = at(0, 0);
    let reads: Vec<(usize, common::Rows)> = reads.iter().map(|rows| (0, rows.as_slice())).collect();
    let statement = Statement {
        name: "S",
        iterators: &["t", "i", "j"],
        domain: "{ S[t, i, j] : 1 <= t <= n and 2 <= i < n and 2 <= j < n }",
        write: (0, &write),
        reads: &reads,
    };
    let order = for_loop("t", 0, &[0], for_loop("i", 1, &[0], for_loop("j", 2, &[0], leaf(0))));
    let mut algorithm = algorithm(ctx, &[("H", 3)], &[statement], order);
    let buffer = |delay: i64| {
        let time = Affine::iterator(0).add_constant(delay).unwrap().modulo(2).unwrap();
        Subscript::Affine(time.add_constant(1).unwrap())
    };
    let computation = &mut algorithm.computations[0];
    computation.write.subscripts[0] = buffer(0);
    for read in &mut computation.reads {
        read.subscripts[0] = buffer(1);
    }
    algorithm
}

#[test]
fn counts_of_the_five_point_stencil_are_the_closed_forms() {
    let ctx = Ctx::new();
    let algorithm = pseudo_jacobi(&ctx);
    for (h, w, t) in [(2, 2, 1), (3, 5, 1), (2, 3, 2), (4, 4, 3), (5, 3, 4), (7, 8, 5)] {
        for approach in Approach::ALL {
            let (sizes, t): (&[u64], u64) = match approach {
                Approach::Plain => (&[h, w], 1),
                Approach::Skewed | Approach::Redundant => (&[h, w, t], t),
            };
            let counted = count_tile(&ctx, &algorithm, approach, sizes).unwrap().unwrap();
            let closed = closed::cost(approach, CELL, h, w, t, Held::Loaded);
            assert_eq!(counted.cost, closed, "{approach:?} {sizes:?}");
        }
    }
}

#[test]
fn redundant_tiles_run_more_than_they_own() {
    let ctx = Ctx::new();
    let counted = count_tile(&ctx, &pseudo_jacobi(&ctx), Approach::Redundant, &[3, 4, 2]).unwrap().unwrap();
    assert_eq!((counted.run, counted.cost.useful), (5 * 6 + 3 * 4, 2 * 3 * 4));
    // Two layers of time: 5x6 with its halo, and what the first step writes.
    assert_eq!(counted.footprint, (30 + 22) + 30);
}

#[test]
fn programs_are_ranked_as_the_closed_forms_rank_their_stencil() {
    let ctx = Ctx::new();
    let rankings = rank(&ctx, &pseudo_jacobi(&ctx), 4076).unwrap();
    let [ranking] = rankings.as_slice() else { panic!("one nest") };
    assert_eq!((ranking.space.join(" "), ranking.time.as_deref()), ("i j".to_string(), Some("t")));
    let found: Vec<_> = ranking.ranked.iter().map(|it| (it.candidate.clone(), it.skew.clone(), it.trust)).collect();
    let expected = [(Approach::Redundant, [0, 0]), (Approach::Skewed, [1, 1]), (Approach::Plain, [0, 0])];
    assert_eq!(found.len(), 3);
    for ((candidate, skew, trust), (approach, expected)) in found.iter().zip(expected) {
        assert_eq!(*candidate, closed::best(approach, CELL, 4076, Held::Loaded).unwrap());
        assert_eq!((skew.as_slice(), *trust), (expected.as_slice(), Trust::Exact));
    }
}

#[test]
fn two_sweeps_in_a_time_step_are_two_plain_tiles_or_one_skewed_tile() {
    let ctx = Ctx::new();
    let algorithm = jacobi(&ctx);
    let plain = count_tile(&ctx, &algorithm, Approach::Plain, &[10]).unwrap().unwrap();
    // B from A and its halo, A from B.
    assert_eq!((plain.cost.loads, plain.cost.stores, plain.cost.useful), (12 + 10, 10 + 10, 20));
    // Space moves by 2 a step, and A is written back one cell late. The first step needs 12 cells of A and one of B, each
    // further one 2 and 1; all of the last step leaves, 2 cells of A of each other one, and one of B of each.
    let skewed = count_tile(&ctx, &algorithm, Approach::Skewed, &[10, 3]).unwrap().unwrap();
    assert_eq!(skewed.cost.useful, 60);
    assert_eq!((skewed.cost.loads, skewed.cost.stores), (19, 17));
}

#[test]
fn without_time_there_are_plain_tiles_alone() {
    let ctx = Ctx::new();
    let rankings = rank(&ctx, &pointwise(&ctx), 128).unwrap();
    let [ranking] = rankings.as_slice() else { panic!("one nest") };
    let [only] = ranking.ranked.as_slice() else { panic!("one approach") };
    assert_eq!((only.candidate.cost.loads, only.candidate.cost.stores), (128, 64));
    assert_eq!(ranking.refused, [(Approach::Skewed, Refused::NoTime), (Approach::Redundant, Refused::NoTime)]);
}

#[test]
fn what_needs_more_memory_than_there_is_says_how_much() {
    let ctx = Ctx::new();
    let rankings = rank(&ctx, &pointwise(&ctx), 31).unwrap();
    assert_eq!(rankings[0].refused[0], (Approach::Plain, Refused::Memory { least: 32 }));
}
