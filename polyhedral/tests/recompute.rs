//! Programs that repeat instances: accepted where they compute the source's values, refused with a witness where not.

mod common;

use common::{Statement, algorithm, for_loop, leaf, scheduled};
use tessella_polyhedral::algorithm::{Algorithm, ArrayKind, ComputationId};
use tessella_polyhedral::command::Command;
use tessella_polyhedral::error::{AtObstacle, Error, ScheduleError};
use tessella_polyhedral::isl::{Ctx, Set};
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::recompute::{Mistake, Recomputation, Role, prove};
use tessella_polyhedral::schedule::Node;
use tessella_polyhedral::{dependence, transform};

/// `for i: T[i] = A[i]; for i: B[i] = T[i - 1] + T[i + 1]`, `T` an array of the function's own.
fn two_stages(ctx: &Ctx) -> Algorithm {
    let r = Statement {
        name: "R",
        iterators: &["i"],
        domain: "{ R[i] : 1 <= i <= n }",
        write: (1, &[(&[1], 0)]),
        reads: &[(0, &[(&[1], 0)])],
    };
    let s = Statement {
        name: "S",
        iterators: &["i"],
        domain: "{ S[i] : 2 <= i < n }",
        write: (2, &[(&[1], 0)]),
        reads: &[(1, &[(&[1], -1)]), (1, &[(&[1], 1)])],
    };
    let order = Node::Sequence(vec![for_loop("i", 0, &[0], leaf(0)), for_loop("i", 0, &[1], leaf(1))]);
    let mut all = algorithm(ctx, &[("A", 1), ("T", 1), ("B", 1)], &[r, s], order);
    all.arrays[1].kind = ArrayKind::Local { outer: 0 };
    all
}

fn go(ctx: &Ctx, start: &Scheduled, command: &Command) -> Result<Scheduled, Error> {
    let all = dependence::dependences(ctx, &start.algorithm)?;
    transform::apply(ctx, start, &all, command)
}

fn split_then_compute(ctx: &Ctx, of: Algorithm) -> Result<Scheduled, Error> {
    let split = go(ctx, &scheduled(of, Target::Cpu), &Command::Split { computation: "S".into(), at: "i".into(), size: 4 })?;
    go(ctx, &split, &Command::ComputeAt { computation: "R".into(), reader: "S".into(), at: "i0".into() })
}

#[test]
fn values_are_computed_where_they_are_read() {
    let ctx = Ctx::new();
    let original = two_stages(&ctx);
    let made = split_then_compute(&ctx, original.clone()).unwrap();
    // R stands in the tile, and the tiles overlap by two.
    assert_eq!(made.algorithm.computations.len(), 2);
    let six = made.algorithm.arrays[3].extents[0].as_constant();
    assert_eq!(six, Some(6));
    let names: Vec<&str> = made.schedule.loops_around(ComputationId(0)).iter().map(|(_, it)| it.name.as_str()).collect();
    assert_eq!(names, ["i0", "i"]);
}

#[test]
fn a_value_that_is_left_out_is_found() {
    let ctx = Ctx::new();
    let original = two_stages(&ctx);
    let made = split_then_compute(&ctx, original.clone()).unwrap();
    let roles: Vec<Role> = original.ids().map(Role::Repeats).collect();
    let judge = |new: &Algorithm| {
        prove(&ctx, &Recomputation { original: &original, new, roles: &roles }).unwrap().map_err(|found| found.mistake)
    };
    assert_eq!(judge(&made.algorithm), Ok(()));
    // The last element of each tile's halo is not computed.
    let mut less = made.algorithm.clone();
    let domain = &less.computations[0].domain;
    let short = Set::from_text(&ctx, "[n] -> { R[i, i0] : i <= 4 * i0 + 5 }").unwrap();
    less.computations[0].domain = domain.intersect(&short).unwrap();
    assert_eq!(judge(&less), Err(Mistake::Value { computation: "S".into(), array: "T_local".into() }));
    // An instance that the source does not have.
    let mut more = made.algorithm.clone();
    let strangers = Set::from_text(&ctx, "[n] -> { R[i, i0] : i = 0 and i0 = 0 and n >= 4 }").unwrap();
    more.computations[0].domain = more.computations[0].domain.union(&strangers).unwrap();
    assert_eq!(judge(&more), Err(Mistake::Instance { computation: "R".into() }));
    // Another expression.
    let mut other = made.algorithm.clone();
    other.computations[0].value = other.computations[1].value.clone();
    assert_eq!(judge(&other), Err(Mistake::Expression { computation: "R".into() }));
    // An element of the result that is not computed.
    let mut open = made.algorithm.clone();
    let short = Set::from_text(&ctx, "[n] -> { S[i, o] : i <= n - 2 }").unwrap();
    open.computations[1].domain = open.computations[1].domain.intersect(&short).unwrap();
    assert_eq!(judge(&open), Err(Mistake::End { array: "B".into() }));
}

#[test]
fn what_nobody_wrote_is_not_computed() {
    let ctx = Ctx::new();
    let mut original = two_stages(&ctx);
    original.computations[0].domain = Set::from_text(&ctx, "[n] -> { R[i] : 2 <= i <= n }").unwrap();
    let refused = split_then_compute(&ctx, original).unwrap_err();
    let obstacle = AtObstacle::NotWritten { reader: ComputationId(1) };
    let expected = ScheduleError::CannotComputeAt { computation: "R".into(), at: "i0".into(), obstacle };
    assert_eq!(refused, Error::Schedule(expected));
}

#[test]
fn what_changes_in_between_is_seen() {
    let ctx = Ctx::new();
    // S overwrites A, which the next tile's R reads.
    let mut original = two_stages(&ctx);
    original.computations[1].write.array = original.computations[0].reads[0].array;
    match split_then_compute(&ctx, original).unwrap_err() {
        Error::Schedule(ScheduleError::OtherValues(found)) => {
            assert_eq!(found.mistake, Mistake::Value { computation: "R".into(), array: "A".into() });
            // The smallest: the second tile reads at 5 what the first overwrote.
            assert_eq!(found.at, [5, 1]);
        }
        other => panic!("{other:?}"),
    }
}
