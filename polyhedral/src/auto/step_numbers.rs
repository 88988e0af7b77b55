//! Numbers that an iteration of a time loop has for its nests, computed where they are read.
//!
//! ```text
//! for t { s = f(t); for j { for i { U[i, j] = g(s, ..) } }; .. } -> for t { for j { for i { U[i, j] = g(f(t), ..) } }; .. }
//! ```
//!
//! Such a number stands nowhere in space, so that its time loop has no tiles. As a user writes it: `inline`, proved as that is.

use super::stream_ready::is_passed_on;
use crate::algorithm::{Algorithm, ArrayKind, ComputationId};
use crate::command::Command;
use crate::dependence::{Dependence, dependences};
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::schedule::{Loop, Node, Path, Tag};
use crate::transform::inline;

/// A program with numbers in place.
pub(crate) struct InPlace {
    pub(crate) scheduled: Scheduled,
    pub(crate) dependences: Vec<Dependence>,
    pub(crate) commands: Vec<Command>,
}

impl InPlace {
    /// What of a part still has instances.
    pub(super) fn first_of(&self, part: &Node) -> Option<ComputationId> {
        part.computations().into_iter().find(|id| !self.scheduled.algorithm.computation(*id).never_runs())
    }
}

/// The program with the numbers of the time loop at a path in place; `None` if it has none, or one has to stay.
///
/// # Errors
/// Where isl fails, or gives up.
pub(crate) fn in_place(ctx: &Ctx, scheduled: &Scheduled, path: &Path) -> Result<Option<InPlace>, Error> {
    let Some(Node::Loop(it)) = scheduled.schedule.node(path) else { return Ok(None) };
    let numbers = numbers(&scheduled.algorithm, it);
    if numbers.is_empty() || it.tag != Tag::Sequential {
        return Ok(None);
    }
    all_of(ctx, scheduled, &numbers)
}

/// The program with the values of these computations in place; `None` if one has to stay.
///
/// # Errors
/// Where isl fails, or gives up.
pub(super) fn all_of(ctx: &Ctx, scheduled: &Scheduled, ids: &[ComputationId]) -> Result<Option<InPlace>, Error> {
    let (mut now, mut commands) = (scheduled.clone(), vec![]);
    for &id in ids {
        let computation = scheduled.algorithm.computation(id).name.clone();
        now = match inline(ctx, &now, &computation) {
            Ok(inlined) => inlined,
            Err(Error::Schedule(_)) => return Ok(None),
            Err(other) => return Err(other),
        };
        commands.push(Command::Inline { computation });
    }
    let dependences = dependences(ctx, &now.algorithm)?;
    Ok(Some(InPlace { scheduled: now, dependences, commands }))
}

/// The program with the numbers of all outermost time loops in place; `None` if there are none.
///
/// # Errors
/// Where isl fails, or gives up.
pub(crate) fn all_in_place(ctx: &Ctx, scheduled: &Scheduled) -> Result<Option<InPlace>, Error> {
    let mut found: Option<InPlace> = None;
    for path in scheduled.schedule.parts() {
        let start = found.as_ref().map_or(scheduled, |it| &it.scheduled);
        if let Some(mut next) = in_place(ctx, start, &path)? {
            let before = found.map_or(vec![], |it| it.commands);
            next.commands.splice(0..0, before);
            found = Some(next);
        }
    }
    Ok(found)
}

/// What stands beside the nests of a loop and makes one number for each iteration.
fn numbers(algorithm: &Algorithm, it: &Loop) -> Vec<ComputationId> {
    let Node::Sequence(children) = &*it.body else { return vec![] };
    if !children.iter().any(|child| matches!(child, Node::Loop(_))) {
        return vec![];
    }
    let is_number = |id: &ComputationId| {
        let computation = algorithm.computation(*id);
        let kind = algorithm.array(computation.write.array).kind;
        kind == ArrayKind::Private && computation.iterators.len() == 1 && is_passed_on(algorithm, *id)
    };
    let beside = children.iter().filter_map(|child| match child {
        Node::Computation(id) => Some(*id),
        Node::Loop(_) | Node::Sequence(_) => None,
    });
    beside.filter(is_number).collect()
}
