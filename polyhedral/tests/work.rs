//! The work of kernels, held against enumeration and against what one counts on paper.

mod common;

use common::*;
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Algorithm, ComputationId};
use tessella_polyhedral::dependence::dependences;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::Target;
use tessella_polyhedral::schedule::{Loop, Node, Tag};
use tessella_polyhedral::work::{Precision, Work, work};
use tessella_polyhedral::{connect, place, verify};

/// The work of computations whose launches are inside the loops of these names.
fn work_of(ctx: &Ctx, algorithm: Algorithm, of: &[u32], around: &[&str], n: i64) -> Work {
    let all = dependences(ctx, &algorithm).unwrap();
    let placed = place::place(ctx, scheduled(algorithm, Target::Gpu)).unwrap();
    let verified = verify::verify(ctx, connect::connect(ctx, placed, &all).unwrap(), &all).unwrap();
    let ids: BTreeSet<ComputationId> = of.iter().map(|&id| ComputationId(id)).collect();
    let is_around = |it: &Loop| around.contains(&it.name.as_str());
    work(ctx, &verified, &ids, &is_around, &[n], &mut 1_000_000).unwrap().unwrap()
}

#[test]
fn a_pointwise_sum_reads_two_arrays_and_writes_one() {
    let ctx = Ctx::new();
    for n in [0, 1, 7, 4000] {
        let all = u64::try_from(n * n).unwrap();
        let expected = Work {
            instances: all,
            float64: all,
            read_bytes: 16 * all,
            written_bytes: 8 * all,
            precision: Precision::Exact,
            ..Work::default()
        };
        assert_eq!(work_of(&ctx, pointwise(&ctx), &[0], &[], n), expected);
    }
}

#[test]
fn neighbours_count_once_a_launch() {
    let ctx = Ctx::new();
    // Each of ten launches of S reads all n elements once and writes the inner ones; two additions an element.
    let s = work_of(&ctx, jacobi(&ctx), &[0], &["t"], 1000);
    assert_eq!((s.instances, s.float64, s.float32), (9980, 2 * 9980, 0));
    assert_eq!((s.read_bytes, s.written_bytes), (8 * 10_000, 8 * 9980));
    let r = work_of(&ctx, jacobi(&ctx), &[1], &["t"], 1000);
    assert_eq!((r.read_bytes, r.written_bytes), (8 * 9980, 8 * 9980));
}

#[test]
fn what_a_launch_has_written_itself_it_need_not_read() {
    let ctx = Ctx::new();
    // Both in one launch a step: B is written before it is read; A comes from outside, its inner part is written.
    let together = work_of(&ctx, jacobi(&ctx), &[0, 1], &["t"], 1000);
    assert_eq!(together.read_bytes, 8 * 10_000);
    assert_eq!(together.written_bytes, 8 * 2 * 9980);
    // All steps in one launch: A comes in once.
    let whole = work_of(&ctx, jacobi(&ctx), &[0, 1], &[], 1000);
    assert_eq!((whole.read_bytes, whole.written_bytes), (8 * 1000, 8 * 2 * 998));
}

#[test]
fn an_accumulator_that_is_set_first_is_only_written() {
    let ctx = Ctx::new();
    let set = Statement {
        name: "S",
        iterators: &["i"],
        domain: "{ S[i] : 1 <= i <= n }",
        write: (0, &[(&[1], 0)]),
        reads: &[(2, &[(&[1], 0)])],
    };
    let add = Statement {
        name: "R",
        iterators: &["i", "k"],
        domain: "{ R[i, k] : 1 <= k <= i <= n }",
        write: (0, &[(&[1, 0], 0)]),
        reads: &[(0, &[(&[1, 0], 0)]), (1, &[(&[1, 0], 0), (&[0, 1], 0)])],
    };
    let body = Node::Sequence(vec![leaf(0), for_loop("k", 1, &[1], leaf(1))]);
    let made = algorithm(&ctx, &[("s", 1), ("A", 2), ("z", 1)], &[set, add], for_loop("i", 0, &[0, 1], body));
    let n = 101;
    let found = work_of(&ctx, made, &[0, 1], &[], n);
    let (n, triangle) = (n as u64, (n * (n + 1) / 2) as u64);
    assert_eq!((found.instances, found.float64), (n + triangle, triangle));
    assert_eq!((found.read_bytes, found.written_bytes), (8 * (n + triangle), 8 * n));
}

#[test]
fn tiles_change_no_footprint() {
    let ctx = Ctx::new();
    let plain = work_of(&ctx, pointwise(&ctx), &[0], &[], 100);
    let mut tiled = pointwise(&ctx);
    let id = ComputationId(0);
    let at = |affine: Affine| BTreeMap::from([(id, affine)]);
    let inner = std::mem::replace(&mut tiled.source_order.root, leaf(0));
    let tile = Affine::iterator(0).floor_div(32);
    tiled.source_order.root =
        Node::Loop(Loop { name: "tile".into(), tag: Tag::Sequential, at: at(tile), body: Box::new(inner) });
    assert_eq!(work_of(&ctx, tiled.clone(), &[0], &[], 100), plain);
    // As launches of their own, too: the tiles share no element.
    assert_eq!(work_of(&ctx, tiled, &[0], &["tile"], 100), plain);
}
