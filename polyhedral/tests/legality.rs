//! Which commands are accepted, which are refused, and with what witness.

mod common;

use common::*;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::condition::{Comparison, Condition, SizeExpr};
use tessella_polyhedral::dependence::{Dependence, DependenceKind, dependences};
use tessella_polyhedral::error::{Error, ScheduleError};
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::legality::{self, Breach, Violation};
use tessella_polyhedral::print;
use tessella_polyhedral::schedule::{Loop, Node, Schedule, Tag};
use tessella_scalar::CompareOp;

fn run(ctx: &Ctx, start: &Scheduled, commands: &[Command]) -> Result<Scheduled, Error> {
    let all = dependences(ctx, &start.algorithm).unwrap();
    commands.iter().try_fold(start.clone(), |scheduled, command| apply(ctx, &scheduled, &all, command))
}

fn refused(result: Result<Scheduled, Error>) -> Violation {
    match result {
        Err(Error::Schedule(ScheduleError::Illegal(violation))) => *violation,
        other => panic!("expected a violated dependence, got {other:?}"),
    }
}

fn s(name: &str) -> String {
    name.to_string()
}

fn interchange(computation: &str, outer: &str, inner: &str) -> Command {
    Command::Interchange { computation: s(computation), outer: s(outer), inner: s(inner) }
}

fn tile(computation: &str, loops: &[&str], sizes: &[u32]) -> Command {
    Command::Tile { computation: s(computation), loops: loops.iter().map(|it| s(it)).collect(), sizes: sizes.to_vec() }
}

fn parallel(computation: &str, at: &str) -> Command {
    Command::Parallel { computation: s(computation), at: s(at) }
}

#[test]
fn interchange_against_a_negative_distance_is_refused_with_the_smallest_witness() {
    let ctx = Ctx::new();
    let start = scheduled(antidiagonal(&ctx), Target::Cpu);
    let violation = refused(run(&ctx, &start, &[interchange("S", "i", "j")]));
    assert_eq!(violation.kind, DependenceKind::Flow);
    assert_eq!(violation.breach, Breach::Reversed { at: s("j") });
    assert_eq!(violation.witness.source, [2, 2]);
    assert_eq!(violation.witness.sink, [3, 1]);
    assert_eq!(violation.witness.params, [(s("n"), 3)]);
    assert_eq!(violation.witness.distance, [1, -1]);
    assert_eq!(violation.witness.new_distance, [-1, 1]);
}

#[test]
fn skewing_makes_the_refused_interchange_legal() {
    let ctx = Ctx::new();
    let start = scheduled(antidiagonal(&ctx), Target::Cpu);
    let skew = Command::Skew { computation: s("S"), outer: s("i"), inner: s("j"), factor: 1 };
    run(&ctx, &start, &[skew, interchange("S", "i", "j")]).unwrap();
}

#[test]
fn tiling_an_unpermutable_band_is_refused() {
    let ctx = Ctx::new();
    let start = scheduled(antidiagonal(&ctx), Target::Cpu);
    let violation = refused(run(&ctx, &start, &[tile("S", &["i", "j"], &[4, 4])]));
    assert_eq!(violation.breach, Breach::Reversed { at: s("j0") });
}

#[test]
fn a_loop_that_carries_a_dependence_is_not_parallel() {
    let ctx = Ctx::new();
    let start = scheduled(antidiagonal(&ctx), Target::Cpu);
    let violation = refused(run(&ctx, &start, &[parallel("S", "i")]));
    assert_eq!(violation.breach, Breach::Concurrent { at: s("i"), tag: Tag::Parallel });
    run(&ctx, &start, &[parallel("S", "j")]).unwrap();
}

#[test]
fn pointwise_programs_take_every_command() {
    let ctx = Ctx::new();
    let start = scheduled(pointwise(&ctx), Target::Cpu);
    let commands = [
        interchange("S", "i", "j"),
        tile("S", &["j", "i"], &[32, 8]),
        parallel("S", "j0"),
        Command::Vectorize { computation: s("S"), at: s("i1"), width: 8 },
        Command::Unroll { computation: s("S"), at: s("j1"), factor: 4 },
    ];
    let done = run(&ctx, &start, &commands).unwrap();
    let expected = "\
for j0 = floor((j - 1)/32)  # parallel
  for i0 = floor((i - 1)/8)
    for j1 = j - 32*floor((j - 1)/32) - 1  # unroll(4)
      for i1 = i - 8*floor((i - 1)/8) - 1  # vector(8)
        S: C[i, j] = A[i, j] + B[i, j]
";
    assert_eq!(print::schedule(&done.algorithm, &done.schedule), expected);
}

#[test]
fn fusing_sweeps_of_a_stencil_is_refused_and_a_shift_makes_it_legal() {
    let ctx = Ctx::new();
    let start = scheduled(jacobi(&ctx), Target::Cpu);
    let fuse = Command::Fuse { first: s("S"), second: s("R"), at: s("i") };
    let violation = refused(run(&ctx, &start, std::slice::from_ref(&fuse)));
    assert_eq!(violation.kind, DependenceKind::Anti);
    let shift = Command::Shift { computation: s("R"), at: s("i"), by: 1 };
    let done = run(&ctx, &start, &[shift, fuse]).unwrap();
    assert_eq!(
        print::schedule(&done.algorithm, &done.schedule),
        "for t\n  for i = i + 1\n    S: B[i] = A[i - 1] + A[i] + A[i + 1]\n    R: A[i] = B[i]\n"
    );
}

#[test]
fn distributing_what_was_fused_gives_the_two_loops_back() {
    let ctx = Ctx::new();
    let start = scheduled(jacobi(&ctx), Target::Cpu);
    let shift = Command::Shift { computation: s("R"), at: s("i"), by: 1 };
    let fuse = Command::Fuse { first: s("S"), second: s("R"), at: s("i") };
    let back = Command::Shift { computation: s("R"), at: s("i"), by: -1 };
    let distribute = Command::Distribute { computation: s("S"), at: s("i") };
    let done = run(&ctx, &start, &[shift, fuse, distribute, back]).unwrap();
    assert_eq!(done.schedule, start.schedule);
}

#[test]
fn distributing_the_time_loop_of_a_stencil_is_refused() {
    let ctx = Ctx::new();
    let start = scheduled(jacobi(&ctx), Target::Cpu);
    let violation = refused(run(&ctx, &start, &[Command::Distribute { computation: s("S"), at: s("t") }]));
    assert_eq!(violation.breach, Breach::Sequence);
}

#[test]
fn after_moves_a_computation_into_the_loops_of_another() {
    let ctx = Ctx::new();
    let start = scheduled(jacobi(&ctx), Target::Cpu);
    let before = Command::Before { computation: s("R"), other: s("S"), at: Some(s("t")) };
    let violation = refused(run(&ctx, &start, &[before]));
    assert_eq!(violation.kind, DependenceKind::Flow);
    let after = Command::After { computation: s("R"), other: s("S"), at: Some(s("t")) };
    let done = run(&ctx, &start, &[after]).unwrap();
    assert_eq!(done.schedule, start.schedule);
}

#[test]
fn names_that_do_not_exist_are_reported_with_those_that_do() {
    let ctx = Ctx::new();
    let start = scheduled(jacobi(&ctx), Target::Cpu);
    let unknown = run(&ctx, &start, &[parallel("T", "i")]);
    let known = vec![s("S"), s("R")];
    assert_eq!(unknown.unwrap_err(), ScheduleError::UnknownComputation { name: s("T"), known }.into());
    let unknown = run(&ctx, &start, &[parallel("S", "x")]);
    let known = vec![s("t"), s("i")];
    let error = ScheduleError::UnknownLoop { computation: s("S"), name: s("x"), known };
    assert_eq!(unknown.unwrap_err(), error.into());
}

#[test]
fn interchanging_around_other_statements_is_refused_with_their_names() {
    let ctx = Ctx::new();
    let start = scheduled(jacobi(&ctx), Target::Cpu);
    match run(&ctx, &start, &[interchange("S", "t", "i")]) {
        Err(Error::Schedule(ScheduleError::NotPerfectlyNested { between, .. })) => {
            assert_eq!(between, [tessella_polyhedral::algorithm::ComputationId(1)]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn gpu_loops_need_a_gpu_and_distinct_places() {
    let ctx = Ctx::new();
    let gpu = |blocks: &[&str], threads: &[&str]| Command::Gpu {
        computation: s("S"),
        blocks: blocks.iter().map(|it| s(it)).collect(),
        threads: threads.iter().map(|it| s(it)).collect(),
    };
    let start = scheduled(pointwise(&ctx), Target::Cpu);
    assert_eq!(run(&ctx, &start, &[gpu(&["i"], &["j"])]).unwrap_err(), ScheduleError::NeedsGpu.into());
    let start = scheduled(pointwise(&ctx), Target::Gpu);
    run(&ctx, &start, &[gpu(&["i"], &["j"])]).unwrap();
    let inside_out = run(&ctx, &start, &[gpu(&["j"], &["i"])]);
    assert!(matches!(inside_out, Err(Error::Schedule(ScheduleError::GpuMapping { .. }))), "{inside_out:?}");
}

#[test]
fn dependences_of_a_stencil_are_flow_anti_and_output() {
    let ctx = Ctx::new();
    let algorithm = jacobi(&ctx);
    let reported = tessella_polyhedral::report::report_dependences(&ctx, &algorithm).unwrap();
    let text = print::dependences(&algorithm, &reported);
    let expected = "\
output S -> S on B: distance (1, 0), carried by t
       { S[t, i] -> S[t' = 1 + t, i' = i] : 0 < t <= 9 and 2 <= i < n }
flow   S -> R on B: distance (0), in one iteration
       { S[t, i] -> R[t' = t, i' = i] : 0 < t <= 10 and 2 <= i < n }
anti   S -> R on A: distance (0), in one iteration
";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("flow   R -> S on A: distance (1), carried by t"), "{text}");
    assert!(text.contains("anti   R -> S on B: distance (1), carried by t"), "{text}");
}

fn pieces(computation: &str, first: &str, second: &str) -> Command {
    Command::Pieces { computation: s(computation), first: s(first), second: s(second) }
}

#[test]
fn pieces_lie_before_at_and_after_where_loops_meet_and_keep_the_order() {
    let ctx = Ctx::new();
    let start = scheduled(antidiagonal(&ctx), Target::Cpu);
    let done = run(&ctx, &start, &[pieces("S", "j", "i")]).unwrap();
    let domains: Vec<String> = done.algorithm.computations.iter().map(|it| it.domain.to_string()).collect();
    assert_eq!(
        domains,
        [
            "[n] -> { S[i, j] : 2 <= i <= n and 0 < j < i and j < n }",
            "[n] -> { S_piece1[i, j = i] : 2 <= i < n }",
            "[n] -> { S_piece2[i, j] : 2 <= i <= n and j > i and 0 < j < n }",
        ]
    );
    let text = print::schedule(&done.algorithm, &done.schedule);
    let lines: Vec<&str> = text.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(lines, ["for i", "  for j", "    S", "    S_piece1", "    S_piece2"]);
}

#[test]
fn pieces_by_size_have_instances_for_the_sizes_of_their_own() {
    let ctx = Ctx::new();
    let start = scheduled(antidiagonal(&ctx), Target::Cpu);
    let more_than = |least: i64| Command::PiecesBySize {
        computation: s("S"),
        condition: Condition {
            comparisons: vec![Comparison {
                left: SizeExpr::Name(s("n")),
                op: CompareOp::Gt,
                right: SizeExpr::Number(least),
            }],
        },
    };
    let done = run(&ctx, &start, &[more_than(10)]).unwrap();
    let domains: Vec<String> = done.algorithm.computations.iter().map(|it| it.domain.to_string()).collect();
    assert_eq!(
        domains,
        [
            "[n] -> { S[i, j] : n >= 11 and 2 <= i <= n and 0 < j < n }",
            "[n] -> { S_piece1[i, j] : n <= 10 and 2 <= i <= n and 0 < j < n }",
        ]
    );
    // Only where n is 2 or more are there instances at all.
    let refused = run(&ctx, &start, &[more_than(1)]);
    assert!(matches!(refused, Err(Error::Schedule(ScheduleError::OneSize { .. }))), "{refused:?}");
}

#[test]
fn one_piece_is_refused() {
    let ctx = Ctx::new();
    let start = scheduled(antidiagonal(&ctx), Target::Cpu);
    let refused = run(&ctx, &start, &[pieces("S", "j", "j")]);
    assert!(matches!(refused, Err(Error::Schedule(ScheduleError::OnePiece { .. }))), "{refused:?}");
}

/// Two statements in one loop, which agree on its order in some trees, and a third one in a loop of its own or in the same.
#[test]
fn what_an_order_treats_alike_is_legal_where_each_dependence_is() {
    let ctx = Ctx::new();
    let statement = |name, domain, write, reads| Statement { name, iterators: &["t", "i"], domain, write, reads };
    let p = statement(
        "P",
        "{ P[t, i] : 1 <= t <= 10 and 2 <= i < n }",
        (1, &[(&[0, 1], 0)]),
        &[(0, &[(&[0, 1], -1)]), (0, &[(&[0, 1], 1)])],
    );
    let q = statement(
        "Q",
        "{ Q[t, i] : 1 <= t <= 10 and 2 <= i < n }",
        (2, &[(&[0, 1], 0)]),
        &[(0, &[(&[0, 1], 1)]), (1, &[(&[0, 1], 0)])],
    );
    let r = statement(
        "R",
        "{ R[t, i] : 1 <= t <= 10 and 2 <= i < n }",
        (0, &[(&[0, 1], 0)]),
        &[(1, &[(&[0, 1], 0)]), (2, &[(&[0, 1], 0)])],
    );
    let tree = |(time, fused): (i64, bool), tag: Tag, along: [Affine; 3], leaves: [u32; 2]| {
        let space = |ids: &[u32], body: Node| {
            let at = ids.iter().map(|&id| (ComputationId(id), along[id as usize].clone())).collect();
            Node::Loop(Loop { name: s("i"), tag, at, body: Box::new(body) })
        };
        let [first, second] = leaves.map(leaf);
        let body = match fused {
            true => space(&[0, 1, 2], Node::Sequence(vec![first, second, leaf(2)])),
            false => Node::Sequence(vec![space(&[0, 1], Node::Sequence(vec![first, second])), space(&[2], leaf(2))]),
        };
        let at = (0..3).map(|id| (ComputationId(id), affine(&[time, 0], 0))).collect();
        Schedule { root: Node::Loop(Loop { name: s("t"), tag: Tag::Sequential, at, body: Box::new(body) }) }
    };
    let forwards = || affine(&[0, 1], 0);
    let source = tree((1, false), Tag::Sequential, [forwards(), forwards(), forwards()], [0, 1]);
    let algorithm = algorithm(&ctx, &[("A", 1), ("B", 1), ("C", 1)], &[p, q, r], source.root);
    let all = dependences(&ctx, &algorithm).unwrap();
    let ways = [forwards(), affine(&[0, -1], 0), affine(&[0, 1], 1), affine(&[2, 1], 0)];
    let (mut legal, mut refused) = (0, 0);
    for shape in [(1, false), (1, true), (-1, false)] {
        for tag in [Tag::Sequential, Tag::Parallel] {
            for leaves in [[0, 1], [1, 0]] {
                for number in 0..ways.len().pow(3) {
                    let way = |at: u32| ways[number / ways.len().pow(at) % ways.len()].clone();
                    let schedule = tree(shape, tag, [way(0), way(1), way(2)], leaves);
                    let fewer = legality::alike(&ctx, &algorithm, &schedule, &all).unwrap();
                    let verdict = legality::is_legal(&ctx, &algorithm, &schedule, &fewer).unwrap();
                    let each = |it: &Dependence| {
                        legality::is_legal(&ctx, &algorithm, &schedule, std::slice::from_ref(it)).unwrap()
                    };
                    assert_eq!(verdict, all.iter().all(each), "{}", print::schedule(&algorithm, &schedule));
                    assert!(fewer.len() < all.len());
                    *(if verdict { &mut legal } else { &mut refused }) += 1;
                }
            }
        }
    }
    assert!(legal > 10 && refused > 10, "{legal} legal, {refused} refused");
}
