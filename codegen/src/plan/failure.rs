//! Where a call ends whose tests on the way fail: see [`Algorithm::failed`].
//!
//! ```text
//! clear failed; launch K (makes tests); launch L; copy x out   ->   clear failed; launch K; leave if failed; launch L; copy x out
//! ```
//!
//! Nothing is copied back before the last test is made, so that the host's memory is as it was where one fails.
//!
//! [`Algorithm::failed`]: tessella_polyhedral::algorithm::Algorithm::failed

use super::{LaunchPlan, Step, copied_out};
use crate::error::CodegenError;
use crate::program::{BufferAccess, KernelParam};
use std::collections::BTreeSet;
use tessella_polyhedral::layers::{BufferId, Direction};

/// The plan with the steps that end the call where a test has failed; the plan as it is if it makes none.
///
/// # Errors
/// E0547 where a copy back has to be made before the last test.
pub(super) fn leaving(plan: LaunchPlan) -> Result<LaunchPlan, CodegenError> {
    let Some(failed) = plan.failed else { return Ok(plan) };
    let steps = Leaving { plan: &plan, failed }.steps(plan.steps.clone())?;
    Ok(LaunchPlan { steps, ..plan })
}

struct Leaving<'a> {
    plan: &'a LaunchPlan,
    failed: BufferId,
}

impl Leaving<'_> {
    /// The same steps, in which the call is left behind the last one that makes tests, and copies back come later.
    fn steps(&self, steps: Vec<Step>) -> Result<Vec<Step>, CodegenError> {
        let Some(last) = steps.iter().rposition(|step| self.tests(step)) else { return Ok(steps) };
        let mut before = steps;
        let after = before.split_off(last + 1);
        let (mut result, mut later) = (vec![], vec![]);
        for (at, step) in before[..last].iter().enumerate() {
            let copied = copied(step);
            let stays = |buffer: &BufferId| !before[at..].iter().any(|later| self.changes(later, *buffer));
            match copied.first() {
                None => result.push(step.clone()),
                Some(_) if only_copies(step) && copied.iter().all(stays) => later.push(step.clone()),
                Some(&buffer) => return Err(self.too_early(buffer)),
            }
        }
        let has_tested = before[..last].iter().any(|step| self.tests(step));
        let leave = Step::LeaveIf(self.failed);
        let step = before.swap_remove(last);
        match (copied(&step).first(), step) {
            (None, step) => result.extend([step, leave]),
            // Either branch copies back what it will, behind its own tests and those before.
            (Some(_), Step::If { condition, then, otherwise }) => {
                result.extend(has_tested.then_some(leave));
                result.push(Step::If { condition, then: self.steps(then)?, otherwise: self.steps(otherwise)? });
            }
            (Some(&buffer), _) => return Err(self.too_early(buffer)),
        }
        result.extend(later);
        result.extend(after);
        Ok(result)
    }

    fn too_early(&self, buffer: BufferId) -> CodegenError {
        let name = self.plan.buffer(buffer).map_or(String::new(), |it| it.name.clone());
        CodegenError::CopiedBeforeTests { array: name }
    }

    /// Whether a step makes tests.
    fn tests(&self, step: &Step) -> bool {
        step.any(&|step| self.launches_writer(step, self.failed))
    }

    /// Whether a buffer is no longer what it is after the step.
    fn changes(&self, step: &Step, buffer: BufferId) -> bool {
        step.any(&|step| match step {
            Step::Free(other) | Step::CopyIn(other) => *other == buffer,
            Step::CopyPart { buffer: other, direction: Direction::HostToDevice, .. } => *other == buffer,
            step => self.launches_writer(step, buffer),
        })
    }

    fn launches_writer(&self, step: &Step, buffer: BufferId) -> bool {
        let (Step::Launch(kernel) | Step::Together { kernel, .. }) = step else { return false };
        let kernel = &self.plan.kernels[kernel.0 as usize];
        kernel.arguments.contains(&KernelParam::Buffer { buffer, access: BufferAccess::Write })
    }
}

/// Whether a step copies back for some sizes, and does nothing else.
fn only_copies(step: &Step) -> bool {
    match step {
        Step::CopyOut(_) | Step::CopyPart { direction: Direction::DeviceToHost, .. } => true,
        Step::If { condition, then, otherwise } => {
            !condition.involves_variables() && then.iter().chain(otherwise).all(only_copies)
        }
        _ => false,
    }
}

/// The buffers that a step copies back.
fn copied(step: &Step) -> BTreeSet<BufferId> {
    copied_out(std::slice::from_ref(step))
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
