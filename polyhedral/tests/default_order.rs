//! What Tessella chooses by itself.

mod common;

use common::*;
use tessella_polyhedral::dependence::dependences;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::{Lifetime, MemorySpace, Target};
use tessella_polyhedral::{bounds, connect, default_order, place, print, verify};

#[test]
fn the_contiguous_axis_goes_innermost_and_the_outer_loop_runs_in_parallel() {
    let ctx = Ctx::new();
    let start = scheduled(pointwise(&ctx), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let expected = "\
for j  # parallel
  for i  # vector(4)
    S: C[i, j] = A[i, j] + B[i, j]
";
    assert_eq!(print::schedule(&done.algorithm, &done.schedule), expected);
}

#[test]
fn a_time_loop_stays_sequential_around_parallel_sweeps() {
    let ctx = Ctx::new();
    for (target, expected) in [
        (Target::Cpu, "for t\n  for i  # parallel\n    S: B[i] = A[i - 1] + A[i] + A[i + 1]\n  for i  # parallel\n"),
        (Target::Gpu, "for t\n  for i0 = floor((i - 2)/256)  # block.x\n"),
    ] {
        let start = scheduled(jacobi(&ctx), target);
        let all = dependences(&ctx, &start.algorithm).unwrap();
        let done = default_order::schedule(&ctx, &start, &all).unwrap();
        let text = print::schedule(&done.algorithm, &done.schedule);
        assert!(text.starts_with(expected), "{text}");
    }
}

#[test]
fn an_anti_diagonal_keeps_its_legal_order() {
    let ctx = Ctx::new();
    let start = scheduled(antidiagonal(&ctx), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let text = print::schedule(&done.algorithm, &done.schedule);
    assert!(text.starts_with("for i\n  for j  # parallel\n"), "{text}");
}

#[test]
fn device_copies_stand_outside_of_the_time_loop() {
    let ctx = Ctx::new();
    let start = scheduled(jacobi(&ctx), Target::Gpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let placed = place::place(&ctx, done).unwrap();
    assert!(placed.layout.buffers.iter().all(|buffer| buffer.space == MemorySpace::Global));
    assert!(placed.layout.buffers.iter().all(|buffer| matches!(buffer.lifetime, Lifetime::Argument(_))));
    let connected = connect::connect(&ctx, placed, &all).unwrap();
    assert_eq!(connected.transfers.len(), 4);
    assert!(connected.transfers.iter().all(|transfer| transfer.at.0.is_empty()));
    verify::verify(&ctx, connected, &all).unwrap();
}

#[test]
fn only_what_is_read_is_copied_in_when_all_is_overwritten() {
    let ctx = Ctx::new();
    let start = scheduled(pointwise(&ctx), Target::Gpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let connected = connect::connect(&ctx, place::place(&ctx, done).unwrap(), &all).unwrap();
    assert_eq!(connected.transfers.len(), 3, "A and B in, C out: {:?}", connected.transfers);
}

#[test]
fn accesses_inside_need_no_check_and_others_give_the_smallest_sizes() {
    let ctx = Ctx::new();
    assert!(bounds::entry_checks(&ctx, &pointwise(&ctx)).unwrap().is_empty());
    let mut outside = jacobi(&ctx);
    outside.arrays[1].extents[0] = tessella_polyhedral::affine::Affine::constant(100);
    let checks = bounds::entry_checks(&ctx, &outside).unwrap();
    assert_eq!(checks.len(), 1);
    assert_eq!(checks[0].holds.to_string(), "[n] -> {  : n <= 101 }");
}
