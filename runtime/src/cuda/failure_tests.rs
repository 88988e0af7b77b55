//! Calls that end because a test on the way fails.

use super::tests::{FakeGpu, buffer, kernel_buffer, update_mixed, update_plan};
use super::*;
use tessella_codegen::int_expr::IntExpr;
use tessella_codegen::plan::Flag;
use tessella_codegen::program::{Blocks, BufferAccess, KernelParam, Width};
use tessella_polyhedral::affine::ParamId;
use tessella_scalar::ScalarType;

const FAILED: BufferId = BufferId(2);

/// The update, and behind it a kernel that says that a test has failed where there are two steps.
fn plan() -> LaunchPlan {
    let mut plan = update_plan();
    plan.failed = Some(FAILED);
    plan.buffers.push(DeviceBuffer { element: ScalarType::Bool, ..buffer(FAILED.0, "failed", vec![], HostSide::None) });
    plan.kernels.push(PlannedKernel {
        name: "note".into(),
        grid: [IntExpr::Const(1), IntExpr::Const(1), IntExpr::Const(1)],
        block: [1, 1, 1],
        width: Width::Wide,
        blocks: Blocks::Apart,
        dynamic: 0,
        arguments: vec![kernel_buffer(FAILED.0, BufferAccess::Write), KernelParam::Param(ParamId(2))],
    });
    let copy_out = plan.steps.iter().position(|step| matches!(step, Step::CopyOut(_))).unwrap();
    plan.steps.splice(copy_out..copy_out, [Step::Launch(KernelId(1)), Step::LeaveIf(FAILED)]);
    plan.steps.splice(0..0, [Step::Allocate(FAILED), Step::Clear(FAILED)]);
    plan.steps.push(Step::Free(FAILED));
    plan
}

fn load(gpu: &Arc<FakeGpu>, plan: LaunchPlan) -> CudaProgram<FakeGpu> {
    let program = CudaProgram::load(gpu.clone(), b"", plan).unwrap();
    gpu.log();
    program
}

#[test]
fn where_a_test_fails_nothing_is_copied_back() {
    let gpu = FakeGpu::new();
    let program = load(&gpu, plan());
    let mut a = vec![1.0; 40];
    assert_eq!(update_mixed(&program, &mut a, [None, None], &[2.0; 40]), -6);
    assert_eq!(a, [1.0; 40]);
    assert!(!gpu.log().iter().any(|call| call.starts_with("out 320")));
    // The memory is there for the next call.
    assert_eq!(update_mixed(&program, &mut a, [None, None], &[2.0; 40]), -6);
    assert!(!gpu.log().iter().any(|call| call.starts_with("alloc")));
    drop(program);
    assert_eq!(gpu.held(), (0, 0));
}

#[test]
fn where_a_test_fails_arrays_on_the_device_hold_again_what_they_held() {
    let gpu = FakeGpu::new();
    let program = load(&gpu, plan());
    gpu.lend(&[]);
    let (to, from) = (gpu.lend(&[1.0; 40]), gpu.lend(&[2.0; 40]));
    assert_eq!(update_mixed(&program, &mut [0.0; 40], [Some(to), Some(from)], &[0.0; 40]), -6);
    assert_eq!((gpu.lent(to), gpu.lent(from)), (vec![1.0; 40], vec![2.0; 40]));
    let copies = gpu.log().iter().filter(|call| call.starts_with("copy 320")).count();
    assert_eq!(copies, 2, "what is only read needs no copy");
    drop(program);
    assert_eq!(gpu.held(), (0, 0));
}

#[test]
fn where_no_test_fails_results_reach_the_caller() {
    let gpu = FakeGpu::new();
    let mut never = plan();
    never.kernels[1].arguments[1] = KernelParam::Param(ParamId(0));
    let program = load(&gpu, never);
    gpu.lend(&[]);
    let to = gpu.lend(&[1.0; 40]);
    let mut a = vec![1.0; 40];
    assert_eq!(update_mixed(&program, &mut a, [None, None], &[2.0; 40]), 0);
    assert_eq!(a, [6.0; 40]);
    assert_eq!(update_mixed(&program, &mut a, [Some(to), None], &[2.0; 40]), 0);
    assert_eq!(gpu.lent(to), [6.0; 40]);
}

#[test]
fn a_loop_that_data_end_is_left_soon() {
    let gpu = FakeGpu::new();
    let mut until = plan();
    until.failed = None;
    let note = until.kernels.len() as u32 - 1;
    let [launch, steps] = [KernelId(note), KernelId(0)].map(Step::Launch);
    let going = vec![Flag { buffer: FAILED, holds: false }];
    let Some(Step::For { going: asked, body, .. }) =
        until.steps.iter_mut().find(|step| matches!(step, Step::For { .. }))
    else {
        panic!("a loop")
    };
    (*asked, *body) = (going, vec![steps, launch]);
    until.steps.retain(|step| !matches!(step, Step::LeaveIf(_) | Step::Launch(_)));
    // With two steps, the first one ends the loop.
    let program = load(&gpu, until);
    let mut a = vec![1.0; 40];
    assert_eq!(update_mixed(&program, &mut a, [None, None], &[2.0; 40]), 0);
    assert_eq!(a, [3.0; 40]);
    let launches = gpu.log().iter().filter(|call| call.starts_with("launch update")).count();
    assert_eq!(launches, 1);
}

#[test]
fn hosts_ask_in_growing_intervals() {
    let asked: Vec<u64> = std::iter::successors(Some(0), |&at| Some(LaunchPlan::asks_next(at))).take(13).collect();
    assert_eq!(asked, [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16]);
}
