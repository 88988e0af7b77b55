//! The costs of tiles, counted point by point, are those of the formulas for the stencils that these are for.

mod common;

use common::{Statement, algorithm, for_loop, jacobi, leaf, pointwise};
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Algorithm, Argument, ArrayKind, Subscript};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::models::tiles::Approach;
use tessella_polyhedral::models::tiles::closed::{self, Cell, Held};
use tessella_polyhedral::models::tiles::count::Counts;
use tessella_polyhedral::models::tiles::fit::{Nests, Sizes, fit};
use tessella_polyhedral::models::tiles::rank::{Refused, Trust, Way, count_tile, count_tile_by, rank, ranked};
use tessella_polyhedral::schedule::Node;
use tessella_scalar::{BinaryOp, ScalarType};

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

/// Cells of the antenna's grid: `H_v[t, i, j]` for each of the computed variables. The first ones of a cell are read by its four
/// neighbours, and computing them takes all variables and coefficients of the cell.
fn antenna(ctx: &Ctx, cell: Cell) -> Algorithm {
    let (computed, read, coefficients) = (cell.computed as usize, cell.read as usize, cell.coefficients as usize);
    let before =
        |i: i64, j: i64| -> [(&'static [i64], i64); 3] { [(&[1, 0, 0], -1), (&[0, 1, 0], i), (&[0, 0, 1], j)] };
    let (own, neighbours) = (before(0, 0), [before(-1, 0), before(1, 0), before(0, -1), before(0, 1)]);
    let write: [(&[i64], i64); 3] = [(&[1, 0, 0], 0), (&[0, 1, 0], 0), (&[0, 0, 1], 0)];
    let constant: [(&[i64], i64); 2] = [(&[0, 1, 0], 0), (&[0, 0, 1], 0)];
    let names: Vec<String> = (0..computed).map(|at| format!("S{at}")).collect();
    let domains: Vec<String> =
        names.iter().map(|it| format!("{{ {it}[t, i, j] : 2 <= t <= n and 2 <= i < n and 2 <= j < n }}")).collect();
    let reads = |at: usize| -> Vec<(usize, common::Rows)> {
        if at >= read {
            return vec![(at, own.as_slice())];
        }
        let variables = (0..computed).map(|it| (it, own.as_slice()));
        let around = (0..read).flat_map(|it| neighbours.iter().map(move |rows| (it, rows.as_slice())));
        variables.chain(around).chain((computed..computed + coefficients).map(|it| (it, constant.as_slice()))).collect()
    };
    let all: Vec<Vec<(usize, common::Rows)>> = (0..computed).map(reads).collect();
    let statements: Vec<Statement> = (0..computed)
        .map(|at| Statement {
            name: &names[at],
            iterators: &["t", "i", "j"],
            domain: &domains[at],
            write: (at, &write),
            reads: &all[at],
        })
        .collect();
    let ids: Vec<u32> = (0..computed as u32).collect();
    let body = Node::Sequence(ids.iter().map(|&id| leaf(id)).collect());
    let order = for_loop("t", 0, &ids, for_loop("i", 1, &ids, for_loop("j", 2, &ids, body)));
    let arrays: Vec<(String, u32)> = (0..computed + coefficients)
        .map(|at| if at < computed { (format!("H{at}"), 3) } else { (format!("C{at}"), 2) })
        .collect();
    let arrays: Vec<(&str, u32)> = arrays.iter().map(|(name, rank)| (name.as_str(), *rank)).collect();
    let mut algorithm = algorithm(ctx, &arrays, &statements, order);
    // Values live as long as they are read: the caller sees none.
    algorithm.arrays[..computed].iter_mut().for_each(|array| array.kind = ArrayKind::Local { outer: 0 });
    algorithm.arguments.retain(|it| !matches!(it, Argument::Array(array) if (array.0 as usize) < computed));
    algorithm
}

#[test]
fn the_cells_of_the_antenna_are_ranked_as_published() {
    let pml = Cell { computed: 18, read: 2, coefficients: 44 };
    let other = Cell { computed: 6, read: 2, coefficients: 20 };
    for cell in [pml, other] {
        let ctx = Ctx::new();
        let algorithm = antenna(&ctx, cell);
        let nests = fit(&ctx, &algorithm, Nests::All, Sizes::All).unwrap();
        let [nest] = nests.as_slice() else { panic!("one nest") };
        for fit in &nest.fits {
            for (h, w, t) in
                [(1, 1, 1), (2, 3, 1), (2, 2, 2), (3, 5, 3), (4, 4, 3), (6, 6, 2), (12, 12, 3), (10, 10, 9)]
            {
                let (sizes, t) = if fit.approach == Approach::Plain { (vec![h, w], 1) } else { (vec![h, w, t], t) };
                let mut closed = closed::cost(fit.approach, cell, h, w, t, Held::Loaded);
                if fit.approach == Approach::Skewed {
                    // The formula stores all variables of two rows and two columns a step. The second ones are read by
                    // neighbours only, which use fewer variables.
                    closed.stores -= (cell.computed - cell.read) * (h + w).saturating_sub(3) * (t - 1);
                }
                assert_eq!(fit.cost(&sizes), closed, "{cell:?} {:?} {sizes:?}", fit.approach);
                assert_eq!(fit.trust(&sizes), Trust::Exact);
            }
        }
        for memory in [4076, 16304] {
            let ranking = ranked(&algorithm, nest, memory);
            for approach in [Approach::Plain, Approach::Redundant] {
                let found = ranking.ranked.iter().find(|it| it.candidate.approach == approach).unwrap();
                assert_eq!(found.candidate, closed::best(approach, cell, memory, Held::Loaded).unwrap(), "{cell:?}");
            }
        }
    }
}

/// As [`antenna`], each cell from its four neighbours alone: a tile of one cell does not load the cell.
fn hollow(ctx: &Ctx) -> Algorithm {
    let mut algorithm = antenna(ctx, CELL);
    algorithm.computations[0].reads.remove(0);
    let read = |at| Box::new(Expr { kind: ExprKind::Read(at), ty: ScalarType::F64 });
    algorithm.computations[0].value.kind = ExprKind::Binary(BinaryOp::Add, read(0), read(3));
    algorithm
}

#[test]
fn no_size_is_better_than_the_ranked_one() {
    let ctx = Ctx::new();
    for (algorithm, memory) in [(jacobi(&ctx), 24), (jacobi(&ctx), 3), (antenna(&ctx, CELL), 21), (hollow(&ctx), 20)] {
        let rankings = rank(&ctx, &algorithm, memory).unwrap();
        let space = rankings[0].space.len();
        for approach in Approach::ALL {
            let dimensions = space + usize::from(approach != Approach::Plain);
            let most: u64 = if dimensions == 3 { 6 } else { 9 };
            let mut best: Option<Counts> = None;
            for place in 0..most.pow(dimensions as u32) {
                let sizes: Vec<u64> = (0..dimensions as u32).map(|at| 1 + place / most.pow(at) % most).collect();
                // The first program has 10 time steps.
                let counted = count_tile_by(&ctx, &algorithm, approach, &sizes, Way::Points).unwrap();
                let Ok((counts, _)) = counted else { continue };
                let fits = counts.cost.memory <= memory;
                if fits && best.is_none_or(|best| counts.cost.is_better_than(&best.cost)) {
                    best = Some(counts);
                }
            }
            let found = rankings[0].ranked.iter().find(|it| it.candidate.approach == approach);
            assert_eq!(found.is_some(), best.is_some(), "{approach:?} in {memory}");
            let (Some(found), Some(best)) = (found, best) else { continue };
            let cost = found.candidate.cost;
            assert!(cost.memory <= memory && found.trust != Trust::Estimate, "{approach:?} in {memory}");
            assert!(!best.cost.is_better_than(&cost), "{approach:?} in {memory}: {:?}, but {best:?}", found.candidate);
        }
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
    let rankings = rank(&ctx, &pointwise(&ctx), 1).unwrap();
    assert_eq!(rankings[0].refused[0], (Approach::Plain, Refused::Memory { least: 2 }));
}
