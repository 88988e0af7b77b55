//! Where calls are left whose tests fail.

use super::super::{DeviceBuffer, DeviceMemory, HostSide, PlannedKernel, Queues};
use super::*;
use crate::entry::Entry;
use crate::int_expr::{Cond, IntExpr};
use crate::program::{Blocks, KernelId, Width};
use tessella_polyhedral::affine::ParamId;
use tessella_polyhedral::algorithm::ArrayId;
use tessella_scalar::{CompareOp, ScalarType};

const FAILED: BufferId = BufferId(0);
const X: BufferId = BufferId(1);
const Y: BufferId = BufferId(2);

/// Makes tests.
const TEST: Step = Step::Launch(KernelId(0));
/// Writes `X`.
const FILL: Step = Step::Launch(KernelId(1));

fn out(buffer: BufferId) -> Step {
    Step::CopyOut(buffer)
}

/// `if n > 0 ... else ... end`
fn branch(then: &[Step], otherwise: &[Step]) -> Step {
    let condition = Cond::Compare(CompareOp::Gt, IntExpr::Param(ParamId(0)), IntExpr::Const(0));
    Step::If { condition, then: then.to_vec(), otherwise: otherwise.to_vec() }
}

fn buffer(id: BufferId, name: &str, host: HostSide) -> DeviceBuffer {
    let (name, element, extents, memory) = (name.to_owned(), ScalarType::F64, vec![], DeviceMemory::Allocated);
    DeviceBuffer { id, name, element, extents, host, memory, padded: None }
}

fn kernel(name: &str, writes: BufferId) -> PlannedKernel {
    PlannedKernel {
        name: name.to_owned(),
        grid: [1; 3].map(IntExpr::Const),
        block: [1; 3],
        arguments: vec![KernelParam::Buffer { buffer: writes, access: BufferAccess::Write }],
        width: Width::Wide,
        blocks: Blocks::Apart,
        dynamic: 0,
    }
}

fn left(steps: &[Step]) -> Result<Vec<Step>, CodegenError> {
    let plan = LaunchPlan {
        entry: Entry {
            parameters: vec![],
            aliases: vec![],
            widened: vec![],
            derived: vec![],
            context: Cond::Const(true),
            apart: vec![],
            unfolded: vec![],
            checks: vec![],
            sizes: vec![],
        },
        arguments: vec![],
        params: vec![],
        results: vec![],
        buffers: vec![
            buffer(FAILED, "failed", HostSide::None),
            buffer(X, "x", HostSide::Argument(ArrayId(0))),
            buffer(Y, "y", HostSide::Argument(ArrayId(1))),
        ],
        kernels: vec![kernel("test", FAILED), kernel("fill", X)],
        queues: Queues::One,
        failed: Some(FAILED),
        steps: steps.to_vec(),
    };
    leaving(plan).map(|plan| plan.steps)
}

fn check(steps: &[Step], expected: &[Step]) {
    assert_eq!(left(steps).unwrap(), expected);
}

const LEAVE: Step = Step::LeaveIf(FAILED);

#[test]
fn calls_are_left_behind_the_last_test() {
    check(&[TEST, FILL, TEST, FILL, out(X)], &[TEST, FILL, TEST, LEAVE, FILL, out(X)]);
    check(&[FILL, out(X)], &[FILL, out(X)]);
}

#[test]
fn copies_back_come_later_if_they_may() {
    check(&[out(X), TEST, out(Y)], &[TEST, LEAVE, out(X), out(Y)]);
    check(&[branch(&[out(X), out(Y)], &[]), TEST], &[TEST, LEAVE, branch(&[out(X), out(Y)], &[])]);
    let refusal = left(&[out(X), FILL, TEST]).unwrap_err();
    assert_eq!(refusal, CodegenError::CopiedBeforeTests { array: "x".to_owned() });
}

#[test]
fn branches_that_copy_back_are_left_each_for_itself() {
    check(&[branch(&[TEST, out(X)], &[FILL, out(X)])], &[branch(&[TEST, LEAVE, out(X)], &[FILL, out(X)])]);
}

/// One branch copies back and makes no tests: those before may have failed.
#[test]
fn branches_that_copy_back_know_of_tests_before_them() {
    check(
        &[TEST, branch(&[TEST, out(X)], &[FILL, out(X)]), out(Y)],
        &[TEST, LEAVE, branch(&[TEST, LEAVE, out(X)], &[FILL, out(X)]), out(Y)],
    );
}

#[test]
fn loops_that_make_tests_copy_nothing_back() {
    let each = |body: &[Step]| Step::Together { kernel: KernelId(1), apart: body.to_vec() };
    check(&[each(&[TEST]), out(X)], &[each(&[TEST]), LEAVE, out(X)]);
    let refusal = left(&[each(&[TEST, out(Y)])]).unwrap_err();
    assert_eq!(refusal, CodegenError::CopiedBeforeTests { array: "y".to_owned() });
}
