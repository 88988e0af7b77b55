//! Where communication commands point: a loop, found by its name.

use super::error::ConnectError;
use crate::algorithm::{Algorithm, ArrayId, ComputationId};
use crate::command::{Place, Times};
use crate::error::Error;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use crate::storage;

/// A node before, after or during which something happens: children of a sequence, or a node as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The loop.
    pub(super) at: Path,
    /// What the command speaks of: the loop, or its body.
    pub(super) node: Path,
}

/// The loop that a place names. Where several have the name, those count around statements that use the arrays.
pub(super) fn find(
    algorithm: &Algorithm,
    schedule: &Schedule,
    place: &Place,
    arrays: &[ArrayId],
) -> Result<Found, Error> {
    let mut all: Vec<(Path, &Loop)> = vec![];
    match &place.computation {
        Some(name) => {
            let id = storage::find::computation(algorithm, name)?;
            all.extend(schedule.loops_around(id));
        }
        None => collect(&schedule.root, &mut vec![], &mut all),
    }
    let named: Vec<&(Path, &Loop)> = all.iter().filter(|(_, it)| it.name == place.at).collect();
    let uses = |id: &ComputationId| arrays.iter().any(|&array| storage::uses(algorithm, *id, array));
    let using: Vec<&(Path, &Loop)> =
        named.iter().copied().filter(|(_, it)| it.body.computations().iter().any(uses)).collect();
    let candidates = if using.is_empty() { named } else { using };
    match candidates.as_slice() {
        [(at, _)] => {
            let node = match place.times {
                Times::Each => at.child(0),
                Times::Once => at.clone(),
            };
            Ok(Found { at: at.clone(), node })
        }
        [] => {
            let mut known: Vec<String> = vec![];
            for (_, it) in &all {
                if !known.contains(&it.name) {
                    known.push(it.name.clone());
                }
            }
            Err(ConnectError::UnknownLoop { at: place.at.clone(), known }.into())
        }
        several => Err(ConnectError::ManyLoops { at: place.at.clone(), count: several.len() }.into()),
    }
}

fn collect<'a>(node: &'a Node, path: &mut Vec<usize>, all: &mut Vec<(Path, &'a Loop)>) {
    match node {
        Node::Computation(_) => {}
        Node::Sequence(children) => {
            for (at, child) in children.iter().enumerate() {
                path.push(at);
                collect(child, path, all);
                path.pop();
            }
        }
        Node::Loop(it) => {
            all.push((Path(path.clone()), it));
            path.push(0);
            collect(&it.body, path, all);
            path.pop();
        }
    }
}

/// Refuses a place inside of a kernel, or of a loop that the host does not run in order.
pub(super) fn check_host(schedule: &Schedule, node: &Path, name: &str) -> Result<(), ConnectError> {
    for it in super::event::loops_around(schedule, node) {
        let reason = match it.tag {
            Tag::Sequential | Tag::Unroll(_) | Tag::Rows | Tag::Separate => continue,
            Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine | Tag::Stream(_) | Tag::GridSync => {
                "it runs on the GPU, inside of a kernel"
            }
            Tag::Parallel | Tag::Vector(_) => "a loop around it runs its iterations in no order",
        };
        return Err(ConnectError::InKernel { at: name.to_string(), reason });
    }
    Ok(())
}
