//! `synchronize`: where the threads of a block, or the host, wait.
//!
//! Rewrite of `synchronize(S, i)`: `for i { S; R } -> for i { S; barrier; R }`

use super::error::ConnectError;
use crate::error::{Error, ScheduleError};
use crate::layers::{Scheduled, Target};
use crate::schedule::{Node, Path, Tag};
use crate::storage;

/// The node after which all wait: the child of the loop's body that holds the computation.
///
/// # Errors
/// [`ConnectError::Divergent`] where not all threads of a block would come to it.
pub(super) fn place(scheduled: &Scheduled, computation: &str, at: &str) -> Result<Path, Error> {
    match scheduled.target {
        Target::Cpu => return Err(ScheduleError::NeedsGpu.into()),
        Target::Gpu => {}
    }
    let (algorithm, schedule) = (&scheduled.algorithm, &scheduled.schedule);
    let id = storage::find::computation(algorithm, computation)?;
    let around = storage::find::loops_down_to(algorithm, schedule, id, at)?;
    let is_gpu = |tag: Tag| matches!(tag, Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine);
    let divergent = |reason| Error::from(ConnectError::Divergent { at: at.to_string(), reason });
    if around.iter().any(|(_, it)| it.tag.thread().is_some()) {
        return Err(divergent("its iterations belong to one thread each, and the others would not come"));
    }
    if around.iter().any(|(_, it)| !it.tag.keeps_order() && !is_gpu(it.tag)) {
        return Err(divergent("its iterations, or those of a loop around it, run in no order"));
    }
    let is_block = |tag: Tag| matches!(tag, Tag::GpuBlock(_));
    let inside = schedule.loops_around(id).into_iter().skip(around.len());
    if around.iter().any(|(_, it)| is_block(it.tag)) && inside.into_iter().any(|(_, it)| is_block(it.tag)) {
        return Err(divergent("loops over blocks lie inside of it, and blocks do not wait for one another"));
    }
    let (path, _) = around.last().expect("the loop was found");
    let body = path.child(0);
    let leaf = schedule.path_of(id).expect("every computation has a leaf in the schedule tree");
    Ok(match schedule.node(&body) {
        Some(Node::Sequence(_)) => body.child(leaf.0[body.0.len()]),
        Some(Node::Loop(_) | Node::Computation(_)) | None => body,
    })
}
