//! Which programs run in slices, and what a slice needs.

mod common;

use common::{Statement, algorithm, for_loop, leaf};
use tessella_polyhedral::algorithm::{Algorithm, ArrayId, ComputationId};
use tessella_polyhedral::dependence::dependences;
use tessella_polyhedral::isl::{Ctx, DimType, Val};
use tessella_polyhedral::slices::{Obstacle, Part, Slices, slices};

fn sliced(ctx: &Ctx, algorithm: &Algorithm) -> Result<Slices, Obstacle> {
    slices(ctx, algorithm, &dependences(ctx, algorithm).unwrap()).unwrap()
}

fn part(array: u32, before: i64, after: i64, written: Option<i64>) -> Part {
    Part { array: ArrayId(array), before, after, accessed: (before, after), written }
}

/// `for j, i: B[i, j] = A[i, j - 1] + A[i, j + 1] + W[i, i]`, and `C[i, j] = B[i, j]` after it in a nest of its own.
fn two_nests(ctx: &Ctx) -> Algorithm {
    let first = Statement {
        name: "S",
        iterators: &["j", "i"],
        domain: "{ S[j, i] : 1 < j < n and 1 <= i <= n }",
        write: (1, &[(&[0, 1], 0), (&[1, 0], 0)]),
        reads: &[
            (0, &[(&[0, 1], 0), (&[1, 0], -1)]),
            (0, &[(&[0, 1], 0), (&[1, 0], 1)]),
            (3, &[(&[0, 1], 0), (&[0, 1], 0)]),
        ],
    };
    let second = Statement {
        name: "R",
        iterators: &["i", "j"],
        domain: "{ R[i, j] : 1 <= i <= n and 1 <= j <= n }",
        write: (2, &[(&[1, 0], 0), (&[0, 1], 0)]),
        reads: &[(1, &[(&[1, 0], 0), (&[0, 1], 0)])],
    };
    let nest = |at: u32, names: [&str; 2]| for_loop(names[0], 0, &[at], for_loop(names[1], 1, &[at], leaf(at)));
    let order = tessella_polyhedral::schedule::Node::Sequence(vec![nest(0, ["j", "i"]), nest(1, ["i", "j"])]);
    algorithm(ctx, &[("A", 2), ("B", 2), ("C", 2), ("W", 2)], &[first, second], order)
}

#[test]
fn a_slice_needs_its_columns_and_those_beside_them() {
    let ctx = Ctx::new();
    let found = sliced(&ctx, &two_nests(&ctx)).unwrap();
    // `W` is needed whole.
    assert_eq!(found.parts, [part(0, -1, 1, None), part(1, 0, 0, Some(0)), part(2, 0, 0, Some(0))]);
    let names: Vec<&str> = found.algorithm.scalars.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["first_of_slice", "last_of_slice"]);
}

/// The instances of each computation for `n` and, if it is sliced, a slice.
fn instances(ctx: &Ctx, algorithm: &Algorithm, values: &[i64]) -> Vec<String> {
    let mut all = vec![];
    for id in algorithm.ids() {
        let mut domain = algorithm.computation(id).domain.clone();
        for (at, value) in values.iter().enumerate() {
            domain = domain.fix(DimType::Param, at as u32, &Val::from_i64(ctx, *value).unwrap()).unwrap();
        }
        let domain = domain.project_out_all_params().unwrap();
        all.extend(domain.points().unwrap().iter().map(|point| format!("{id:?} {point}")));
    }
    all.sort();
    all
}

#[test]
fn slices_are_all_instances_once() {
    let ctx = Ctx::new();
    let whole = two_nests(&ctx);
    let found = sliced(&ctx, &whole).unwrap();
    for n in [0, 1, 2, 7] {
        for length in [1, 2, 3, 10] {
            let firsts = (1..=n).step_by(length as usize);
            let mut parted: Vec<String> = firsts
                .flat_map(|first| instances(&ctx, &found.algorithm, &[n, first, (first + length - 1).min(n)]))
                .collect();
            parted.sort();
            assert_eq!(parted, instances(&ctx, &whole, &[n]), "{n} in slices of {length}");
        }
    }
}

/// One statement in a nest `j, i`, which writes array 0.
fn one(ctx: &Ctx, write: &[(&[i64], i64)], read: &[(&[i64], i64)], from: usize) -> Algorithm {
    let statement = Statement {
        name: "S",
        iterators: &["j", "i"],
        domain: "{ S[j, i] : 1 < j < n and 1 < i < n }",
        write: (0, write),
        reads: &[(from, read)],
    };
    let order = for_loop("j", 0, &[0], for_loop("i", 1, &[0], leaf(0)));
    algorithm(ctx, &[("A", 2), ("B", 2)], &[statement], order)
}

#[test]
fn iterations_that_depend_on_one_another_are_not_parted() {
    let ctx = Ctx::new();
    // A[i, j] = A[i, j - 1]
    let carried = one(&ctx, &[(&[0, 1], 0), (&[1, 0], 0)], &[(&[0, 1], 0), (&[1, 0], -1)], 0);
    assert!(matches!(sliced(&ctx, &carried), Err(Obstacle::Carried(_))));
    // A[j, i] = A[j - 1, i]: columns do not depend on one another, whichever loop runs over them.
    let along = one(&ctx, &[(&[1, 0], 0), (&[0, 1], 0)], &[(&[1, 0], -1), (&[0, 1], 0)], 0);
    assert_eq!(sliced(&ctx, &along).unwrap().parts, [part(0, 0, 0, Some(0))]);
}

#[test]
fn columns_have_to_follow_the_iterations() {
    let ctx = Ctx::new();
    // A[i, 2j] = B[i, j]
    let strided = one(&ctx, &[(&[0, 1], 0), (&[2, 0], 0)], &[(&[0, 1], 0), (&[1, 0], 0)], 1);
    assert_eq!(sliced(&ctx, &strided).unwrap_err(), Obstacle::Write(ComputationId(0)));
    // A[i, j + 1] = B[i, i + j]: all of `B`.
    let shifted = one(&ctx, &[(&[0, 1], 0), (&[1, 0], 1)], &[(&[0, 1], 0), (&[1, 1], 0)], 1);
    assert_eq!(sliced(&ctx, &shifted).unwrap().parts, [part(0, 1, 1, Some(1))]);
}

#[test]
fn an_array_is_written_at_one_distance() {
    let ctx = Ctx::new();
    // A[i, j] = B[i, j]; A[i, j + n]... two statements at different distances write different rows of the same columns.
    let statement = |name, row: i64, column: i64| Statement {
        name,
        iterators: &["j", "i"],
        domain: if name == "S" {
            "{ S[j, i] : 1 < j < n and i = 1 < n }"
        } else {
            "{ R[j, i] : 1 < j < n and i = 2 < n }"
        },
        write: (0, Box::leak(Box::new([(&[0, 1][..], row), (&[1, 0][..], column)]))),
        reads: &[(1, &[(&[0, 1], 0), (&[1, 0], 0)])],
    };
    let both = for_loop("i", 1, &[0, 1], tessella_polyhedral::schedule::Node::Sequence(vec![leaf(0), leaf(1)]));
    let order = for_loop("j", 0, &[0, 1], both);
    let apart = algorithm(&ctx, &[("A", 2), ("B", 2)], &[statement("S", 0, 0), statement("R", 0, 1)], order);
    assert_eq!(sliced(&ctx, &apart).unwrap_err(), Obstacle::Columns(ArrayId(0)));
}
