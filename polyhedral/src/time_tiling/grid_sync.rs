//! All time steps in one kernel, whose blocks wait for each other between the nests of a step.

use super::space::space;
use crate::dependence::Dependence;
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::schedule::{Node, Schedule, Tag};
use crate::transform::find_loop;

/// Tiles the dimensions of space within each time step, and keeps the blocks of tiles for all steps.
///
/// Rewrite: `for t { for j { for i { S } }; ... } -> @grid_sync for t { @block for j0, i0 { @thread for j, i { S } }; ... }`
///
/// The order is that of [`space`]: a loop with this tag runs its iterations one after the other, and what stands one after
/// the other in its body does so for all blocks.
///
/// # Errors
/// [`ScheduleError::NeedsGpu`]; those of [`space`].
///
/// # Source
/// Approach 2 of the persistent kernels that Xiao and Feng describe, *Inter-block GPU communication via fast barrier
/// synchronization*, IPDPS 2010.
pub fn grid_sync(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    computations: &[String],
    time: &str,
    dims: &[String],
    widths: &[u32],
) -> Result<Schedule, Error> {
    if scheduled.target != Target::Gpu {
        return Err(ScheduleError::NeedsGpu.into());
    }
    let tiled = space(ctx, scheduled, dependences, computations, time, dims, widths)?;
    let Some(computation) = computations.first() else { return Ok(tiled) };
    let mut scheduled = Scheduled { schedule: tiled, ..scheduled.clone() };
    let (path, _) = find_loop(&scheduled, computation, time)?;
    if let Some(Node::Loop(it)) = scheduled.schedule.node_mut(&path) {
        it.tag = Tag::GridSync;
    }
    Ok(scheduled.schedule)
}
