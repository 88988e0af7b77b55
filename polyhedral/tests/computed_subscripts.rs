//! Accesses whose element is known only at run time: they may touch anything, and are certain to touch nothing.

mod common;

use common::*;
use std::collections::BTreeSet;
use tessella_polyhedral::algorithm::{Access, AccessRef, Algorithm, Subscript, Which};
use tessella_polyhedral::command::Command;
use tessella_polyhedral::connect::connect;
use tessella_polyhedral::dependence::{Dependence, dependences, direct, live_in};
use tessella_polyhedral::error::{Error, ScheduleError};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::isl::{Ctx, Set};
use tessella_polyhedral::layers::{Direction, Target};
use tessella_polyhedral::place::place;
use tessella_polyhedral::schedule::Node;
use tessella_polyhedral::{default_order, print};
use tessella_scalar::ScalarType;

/// The subscript becomes the value of the computation's first read.
fn compute(access: &mut Access) {
    access.subscripts[0] = Subscript::Computed(Expr { kind: ExprKind::Read(0), ty: ScalarType::I64 });
}

fn statement<'a>(name: &'a str, domain: &'a str, write: usize, reads: &'a [(usize, Rows<'a>)]) -> Statement<'a> {
    Statement { name, iterators: &["i"], domain, write: (write, &[(&[1], 0)]), reads }
}

const X: usize = 0;
const Y: usize = 1;
const IDX: usize = 2;
const ARRAYS: [(&str, u32); 3] = [("x", 1), ("y", 1), ("idx", 1)];

/// `for i: y[idx[i]] = idx[i] + x[i]`.
fn scatter(ctx: &Ctx) -> Algorithm {
    let s = statement("S", "{ S[i] : 1 <= i <= n }", Y, &[(IDX, &[(&[1], 0)]), (X, &[(&[1], 0)])]);
    let mut algorithm = algorithm(ctx, &ARRAYS, &[s], for_loop("i", 0, &[0], leaf(0)));
    compute(&mut algorithm.computations[0].write);
    algorithm
}

/// `for i: y[i] = idx[i]`, `for i: y[idx[i]] = idx[i]`, `for i: x[i] = idx[i] + y[idx[i]] + y[i]`.
fn overwritten(ctx: &Ctx) -> Algorithm {
    let w = statement("W", "{ W[i] : 1 <= i <= n }", Y, &[(IDX, &[(&[1], 0)])]);
    let r = statement("R", "{ R[i] : 1 <= i <= n }", Y, &[(IDX, &[(&[1], 0)])]);
    let reads: [(usize, Rows<'_>); 3] = [(IDX, &[(&[1], 0)]), (Y, &[(&[1], 0)]), (Y, &[(&[1], 0)])];
    let s = statement("S", "{ S[i] : 1 <= i <= n }", X, &reads);
    let loops = (0..3).map(|at| for_loop("i", 0, &[at], leaf(at))).collect();
    let mut algorithm = algorithm(ctx, &ARRAYS, &[w, r, s], Node::Sequence(loops));
    compute(&mut algorithm.computations[1].write);
    compute(&mut algorithm.computations[2].reads[1]);
    algorithm
}

fn set(ctx: &Ctx, text: &str) -> Set {
    Set::from_text(ctx, &format!("[n] -> {{ {text} }}")).unwrap()
}

/// Kind, names of source and sink, and the position of the read among them.
fn named(algorithm: &Algorithm, all: &[Dependence]) -> BTreeSet<String> {
    let name = |at: AccessRef| {
        let name = &algorithm.computation(at.computation).name;
        match at.which {
            Which::Write => name.clone(),
            Which::Read(position) => format!("{name}.{position}"),
        }
    };
    all.iter().map(|it| format!("{} {} {}", it.kind, name(it.source), name(it.sink))).collect()
}

#[test]
fn a_scatter_may_hit_one_element_in_all_iterations() {
    let ctx = Ctx::new();
    let algorithm = scatter(&ctx);
    let all = dependences(&ctx, &algorithm).unwrap();
    assert_eq!(named(&algorithm, &all), BTreeSet::from(["output S S".to_string()]));
    let pairs = all[0].relation.wrap().unwrap().flatten().unwrap().reset_tuple_id().unwrap();
    assert!(pairs.is_equal(&set(&ctx, "[i, j] : 1 <= i < j <= n <= 1099511627776")).unwrap());

    let start = scheduled(algorithm, Target::Cpu);
    for command in [
        Command::Parallel { computation: "S".into(), at: "i".into() },
        Command::Reverse { computation: "S".into(), at: "i".into() },
    ] {
        let result = apply(&ctx, &start, &all, &command);
        assert!(matches!(result, Err(Error::Schedule(ScheduleError::Illegal(_)))), "{command} was not refused");
    }
    let chosen = default_order::schedule(&ctx, &start, &all).unwrap();
    assert_eq!(print::schedule(&chosen.algorithm, &chosen.schedule), "for i\n  S: y[idx[i]] = idx[i] + x[i]\n");
}

#[test]
fn a_gather_runs_in_parallel_and_waits_for_all_writes() {
    let ctx = Ctx::new();
    let algorithm = overwritten(&ctx);
    let all = dependences(&ctx, &algorithm).unwrap();
    let kinds = named(&algorithm, &all);
    let expected = ["flow R S.1", "flow R S.2", "flow W S.1", "flow W S.2", "output R R", "output W R"];
    assert_eq!(kinds, expected.map(String::from).into());
    let flow = all.iter().find(|it| named(&algorithm, &[(*it).clone()]).contains("flow W S.1")).unwrap();
    let pairs = flow.relation.wrap().unwrap().flatten().unwrap().reset_tuple_id().unwrap();
    assert!(pairs.is_equal(&set(&ctx, "[i, j] : 1 <= i <= n and 1 <= j <= n <= 1099511627776")).unwrap());

    let start = scheduled(algorithm, Target::Cpu);
    let fuse = Command::Fuse { first: "R".into(), second: "S".into(), at: "i".into() };
    let result = apply(&ctx, &start, &all, &fuse);
    assert!(matches!(result, Err(Error::Schedule(ScheduleError::Illegal(_)))));
    let parallel = Command::Parallel { computation: "S".into(), at: "i".into() };
    assert!(apply(&ctx, &start, &all, &parallel).is_ok());
}

#[test]
fn a_scatter_hides_no_earlier_write() {
    let ctx = Ctx::new();
    let algorithm = overwritten(&ctx);
    let all = dependences(&ctx, &algorithm).unwrap();
    let kept = named(&algorithm, &direct(&ctx, &algorithm, &all).unwrap());
    for expected in ["flow W S.1", "flow W S.2", "flow R S.1", "flow R S.2", "output W R"] {
        assert!(kept.contains(expected), "{expected} is missing from {kept:?}");
    }
}

#[test]
fn what_a_scatter_leaves_and_a_gather_finds_is_copied_in() {
    let ctx = Ctx::new();
    // y is written through `idx` only: what is not hit keeps the caller's values.
    let algorithm = scatter(&ctx);
    let y = algorithm.computations[0].write.array;
    let all = dependences(&ctx, &algorithm).unwrap();
    let connected = connect(&ctx, place(&ctx, scheduled(algorithm, Target::Gpu)).unwrap(), &all).unwrap();
    let buffer = connected.placed.layout.placement(y).buffer;
    let moved: Vec<Direction> =
        connected.transfers.iter().filter(|it| it.buffer == buffer).map(|it| it.direction).collect();
    assert_eq!(moved, [Direction::HostToDevice, Direction::DeviceToHost]);

    // A write before it says nothing of the element that a gather reads.
    let mut algorithm = overwritten(&ctx);
    algorithm.computations[0].domain = Set::from_text(&ctx, "[n] -> { W[i] : 1 <= i <= n - 1 }").unwrap();
    let all = dependences(&ctx, &algorithm).unwrap();
    let live = live_in(&ctx, &algorithm, &all).unwrap();
    let gather = live
        .iter()
        .find(|it| algorithm.computation(it.read.computation).name == "S" && it.read.which == Which::Read(1));
    let expected = Set::from_text(&ctx, "[n] -> { S[i] : 1 <= i <= n <= 1099511627776 }").unwrap();
    assert!(gather.unwrap().live_in.is_equal(&expected).unwrap());
}
