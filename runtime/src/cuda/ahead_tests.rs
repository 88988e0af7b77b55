//! Arrays of the host that are on the GPU before a run.

use super::tests::{FakeGpu, update_arguments, update_plan};
use super::*;
use std::ffi::c_void;
use tessella_codegen::int_expr::IntExpr;
use tessella_codegen::plan::PaddedAxis;
use tessella_codegen::program::PartAxis;
use tessella_polyhedral::affine::ParamId;
use tessella_polyhedral::layers::Direction;

/// The position of `B`, which is only read.
const B: usize = 2;
const LAUNCH: &str = "launch update [2, 1, 1] [32, 1, 1]";

fn load(gpu: &Arc<FakeGpu>, plan: LaunchPlan) -> CudaProgram<FakeGpu> {
    let program = CudaProgram::load(gpu.clone(), b"", plan).unwrap();
    gpu.log();
    program
}

/// What bringing these positions makes of a call, and the status of the run if it does.
fn bring_and_run(
    program: &CudaProgram<FakeGpu>,
    a: &mut [f64],
    b: &[f64],
    positions: &[usize],
    from: u64,
) -> Option<i32> {
    with_pointers(&update_arguments(0.5, a, b, 2), |pointers: &[*mut c_void]| {
        let call = Packed::on_host(pointers);
        // SAFETY: the arrays are as long as said, and the fake GPU has those that it is given.
        let ahead = unsafe { program.bring(call, positions, from) }.unwrap()?;
        // SAFETY: as above.
        let status = ahead.with(call, |there| unsafe { program.run(there) }).unwrap();
        ahead.keep();
        Some(status)
    })
}

#[test]
fn what_is_there_before_a_run_is_not_copied_again_and_its_memory_is_kept() {
    let gpu = FakeGpu::new();
    let program = load(&gpu, update_plan());
    for (round, allocations) in [vec!["alloc 320"], vec![]].into_iter().enumerate() {
        let mut a = vec![1.0; 40];
        assert_eq!(bring_and_run(&program, &mut a, &[2.0; 40], &[B], 320), Some(0));
        assert_eq!(a, [1.0 + (1.0 + 1.0) + (1.0 + 2.0); 40], "round {round}");
        let expected =
            [&allocations[..], &["in 320", "synchronize"], &allocations, &["in 320", LAUNCH, LAUNCH]].concat();
        assert_eq!(gpu.log(), [&expected[..], &["out 320", "synchronize"]].concat());
    }
    drop(program);
    assert_eq!(gpu.held(), (0, 0));
}

#[test]
fn little_stays_on_the_host_and_so_does_what_a_run_writes_or_lays_out_anew() {
    let gpu = FakeGpu::new();
    let mut padded = update_plan();
    let axis = PaddedAxis { elements: IntExpr::Const(40), room: IntExpr::Const(40) };
    padded.buffers[1].padded = Some(tessella_codegen::plan::Padded { before: 0, axes: vec![axis] });
    let mut in_part = update_plan();
    in_part.steps.retain(|step| *step != Step::CopyIn(BufferId(1)));
    for (plan, position, from) in
        [(update_plan(), B, 321), (update_plan(), 0, 0), (update_plan(), 1, 0), (padded, B, 0), (in_part, B, 0)]
    {
        let program = load(&gpu, plan);
        assert_eq!(bring_and_run(&program, &mut [1.0; 40], &[2.0; 40], &[position], from), None);
        assert_eq!(gpu.log(), [""; 0]);
    }
}

/// The update, of whose second array so many elements are copied.
fn plan_of_part(elements: i64) -> LaunchPlan {
    let mut plan = update_plan();
    let (first, count) = (IntExpr::Const(0), IntExpr::Const(elements));
    let n = || IntExpr::Param(ParamId(1));
    let part = Part { before: 0, axes: vec![PartAxis { first, count, elements: n(), room: n() }] };
    for step in &mut plan.steps {
        if *step == Step::CopyIn(BufferId(1)) {
            *step = Step::CopyPart { buffer: BufferId(1), direction: Direction::HostToDevice, part: part.clone() };
        }
    }
    plan
}

#[test]
fn arrays_of_which_a_run_reads_half_come_as_a_whole() {
    for (elements, expected) in [(19, None), (20, Some(0)), (40, Some(0))] {
        let gpu = FakeGpu::new();
        let program = load(&gpu, plan_of_part(elements));
        let mut a = vec![1.0; 40];
        assert_eq!(bring_and_run(&program, &mut a, &[2.0; 40], &[B], 0), expected);
        let copies = gpu.log().iter().filter(|call| call.starts_with("in 320")).count();
        assert_eq!(copies, if expected.is_some() { 2 } else { 0 });
        if expected.is_some() {
            assert_eq!(a, [6.0; 40]);
        }
    }
}

#[test]
fn where_there_is_no_room_the_host_keeps_what_it_has() {
    let gpu = FakeGpu::with(Default::default(), 319);
    let program = load(&gpu, update_plan());
    assert_eq!(bring_and_run(&program, &mut [1.0; 40], &[2.0; 40], &[B], 0), None);
    assert_eq!(gpu.held(), (0, 0));
}

#[test]
fn copies_that_nobody_keeps_are_freed() {
    let gpu = FakeGpu::new();
    let program = load(&gpu, update_plan());
    let (mut a, b) = ([1.0; 40], [2.0; 40]);
    with_pointers(&update_arguments(0.5, &mut a, &b, 2), |pointers| {
        // SAFETY: the arrays are as long as said.
        let ahead = unsafe { program.bring(Packed::on_host(pointers), &[B], 0) }.unwrap();
        assert_eq!(gpu.held(), (1, 320));
        drop(ahead);
        assert_eq!(gpu.held(), (0, 0));
    });
}
