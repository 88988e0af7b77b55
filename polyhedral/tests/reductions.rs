//! Which computations are reductions, and what their order is free to do.

mod common;

use common::*;
use tessella_polyhedral::algorithm::{Algorithm, ComputationId};
use tessella_polyhedral::command::Command;
use tessella_polyhedral::dependence::{Keeps, dependences};
use tessella_polyhedral::error::{Error, ScheduleError};
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::Target;
use tessella_polyhedral::legality::{self, Breach};
use tessella_polyhedral::reduction::{Operator, UpdateOrder, reduction};
use tessella_polyhedral::schedule::Tag;
use tessella_polyhedral::transform;

/// `for i, j: s[1] = s[1] + A[i, j]`.
fn total(ctx: &Ctx) -> Algorithm {
    let one: Rows = &[(&[0, 0], 1)];
    let element: Rows = &[(&[1, 0], 0), (&[0, 1], 0)];
    let statement = Statement {
        name: "S",
        iterators: &["i", "j"],
        domain: "{ S[i, j] : 1 <= i <= n and 1 <= j <= n }",
        write: (0, one),
        reads: &[(0, one), (1, element)],
    };
    let order = for_loop("i", 0, &[0], for_loop("j", 1, &[0], leaf(0)));
    algorithm(ctx, &[("s", 1), ("A", 2)], &[statement], order)
}

fn interchange() -> Command {
    Command::Interchange { computation: "S".into(), outer: "j".into(), inner: "i".into() }
}

#[test]
fn floating_point_updates_keep_the_order_of_the_source() {
    let ctx = Ctx::new();
    let algorithm = total(&ctx);
    let found = reduction(&algorithm, ComputationId(0)).unwrap();
    assert_eq!((found.operator, found.order), (Operator::Sum, UpdateOrder::Source));
    let all = dependences(&ctx, &algorithm).unwrap();
    assert!(all.iter().all(|it| it.keeps == Keeps::Order));
    let refused = apply(&ctx, &scheduled(algorithm, Target::Cpu), &all, &interchange()).unwrap_err();
    assert!(matches!(refused, Error::Schedule(ScheduleError::Illegal(_))), "{refused:?}");
}

#[test]
fn free_updates_may_be_reordered_and_run_at_one_time_by_partial_results_only() {
    let ctx = Ctx::new();
    let mut algorithm = total(&ctx);
    algorithm.computations[0].fastmath = true;
    assert_eq!(reduction(&algorithm, ComputationId(0)).unwrap().order, UpdateOrder::Any);
    let all = dependences(&ctx, &algorithm).unwrap();
    let exchanged = apply(&ctx, &scheduled(algorithm, Target::Cpu), &all, &interchange()).unwrap();
    let reverse = Command::Reverse { computation: "S".into(), at: "j".into() };
    let reversed = apply(&ctx, &exchanged, &all, &reverse).unwrap();
    for at in ["i", "j"] {
        for command in [
            Command::Parallel { computation: "S".into(), at: at.into() },
            Command::Vectorize { computation: "S".into(), at: at.into(), width: 4 },
        ] {
            // By the tag alone, they would meet.
            let wanted = if matches!(command, Command::Parallel { .. }) { Tag::Parallel } else { Tag::Vector(4) };
            let tagged = transform::tag(&reversed, "S", at, wanted).unwrap();
            match legality::check(&ctx, &reversed.algorithm, &tagged, &all) {
                Err(Error::Schedule(ScheduleError::Illegal(violation))) => {
                    assert!(matches!(violation.breach, Breach::Concurrent { .. }), "{violation:?}");
                }
                other => panic!("{command}: {other:?}"),
            }
            let done = match apply(&ctx, &reversed, &all, &command) {
                Ok(done) => done,
                // One execution of the outer loop updates one element; so does one of the inner loop.
                other => panic!("{command}: {other:?}"),
            };
            let names: Vec<&str> = done.algorithm.computations.iter().map(|it| it.name.as_str()).collect();
            assert_eq!(names, ["S", "S_start", "S_total"], "{command}");
            let spelt = transform::spelled_out(&ctx, &reversed, &all, &command);
            let step = |(now, all): (_, Vec<_>), command: &Command| {
                let next = apply(&ctx, &now, &all, command).unwrap();
                let all = dependences(&ctx, &next.algorithm).unwrap();
                (next, all)
            };
            let (by_hand, _) = spelt.iter().fold((reversed.clone(), all.clone()), step);
            assert_eq!(by_hand.schedule, done.schedule, "{spelt:?}");
        }
    }
}

/// `@simd` before one loop of the source that became both.
#[test]
fn a_simd_loop_that_became_two_frees_the_updates_of_both() {
    let ctx = Ctx::new();
    let mut algorithm = total(&ctx);
    algorithm.computations[0].simd = Some(0);
    let all = dependences(&ctx, &algorithm).unwrap();
    assert!(all.iter().all(|it| it.keeps == Keeps::Apart));
    let exchanged = apply(&ctx, &scheduled(algorithm, Target::Cpu), &all, &interchange()).unwrap();
    for at in ["i", "j"] {
        apply(&ctx, &exchanged, &all, &Command::Reverse { computation: "S".into(), at: at.into() }).unwrap();
        let factored = Command::Rfactor { computation: "S".into(), at: at.into(), size: 4 };
        apply(&ctx, &exchanged, &all, &factored).unwrap();
    }
}

/// `@simd` on the loop `j`: free within one iteration of `i`, and nowhere else.
#[test]
fn a_simd_loop_frees_its_own_updates_only() {
    let ctx = Ctx::new();
    let mut algorithm = total(&ctx);
    algorithm.computations[0].simd = Some(1);
    assert_eq!(reduction(&algorithm, ComputationId(0)).unwrap().order, UpdateOrder::Within(1));
    let all = dependences(&ctx, &algorithm).unwrap();
    let count = |keeps: Keeps| all.iter().filter(|it| it.keeps == keeps).count();
    assert_eq!((count(Keeps::Apart), count(Keeps::Order)), (3, 3));
    let plain = scheduled(algorithm, Target::Cpu);
    let reverse = |at: &str| Command::Reverse { computation: "S".into(), at: at.into() };
    apply(&ctx, &plain, &all, &reverse("j")).unwrap();
    for command in [reverse("i"), interchange()] {
        match apply(&ctx, &plain, &all, &command) {
            Err(Error::Schedule(ScheduleError::Illegal(violation))) => {
                assert_ne!(violation.witness.source[0], violation.witness.sink[0], "{violation:?}");
            }
            other => panic!("{command}: {other:?}"),
        }
    }
    let parallel = Command::Parallel { computation: "S".into(), at: "j".into() };
    assert_eq!(apply(&ctx, &plain, &all, &parallel).unwrap().algorithm.computations.len(), 3);
    let across = Command::Parallel { computation: "S".into(), at: "i".into() };
    assert!(apply(&ctx, &plain, &all, &across).is_err(), "the order across executions is the source's");
}

#[test]
fn what_reads_another_element_is_no_reduction() {
    let ctx = Ctx::new();
    let mut algorithm = total(&ctx);
    algorithm.computations[0].fastmath = true;
    algorithm.computations[0].reads[0].subscripts = vec![affine(&[0, 0], 2).into()];
    assert_eq!(reduction(&algorithm, ComputationId(0)), None);
    let mut algorithm = total(&ctx);
    algorithm.computations[0].reads[1] = algorithm.computations[0].reads[0].clone();
    assert_eq!(reduction(&algorithm, ComputationId(0)), None, "the element is read twice");
}
