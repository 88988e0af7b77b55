//! Values that an iteration keeps in a variable, computed where they are used instead.
//!
//! ```text
//! for k, j, i { d = D[i, k] + D[k, j]; if d < D[i, j]  D[i, j] = d }
//!   -> for k, j, i { if D[i, k] + D[k, j] < D[i, j]  D[i, j] = D[i, k] + D[k, j] }
//! ```
//!
//! What a statement reads then stands in the statement, so that it can be cut where it reads a row or column of what it writes
//! ([`super::cuts`]). A value is computed as often as it is used, so that this is for nests that would run on no threads otherwise.

use super::cuts::has_threads;
use crate::algorithm::{Algorithm, ArrayKind, ComputationId};
use crate::command::Command;
use crate::dependence::{Dependence, dependences};
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::schedule::Schedule;
use crate::transform::inline;

/// Statements that use a value beyond which it is not computed anew in each.
const USERS: usize = 2;

/// A program with values in place of variables.
pub(crate) struct InPlace {
    pub(crate) scheduled: Scheduled,
    pub(crate) dependences: Vec<Dependence>,
    pub(crate) commands: Vec<Command>,
    /// What uses the values.
    pub(crate) users: Vec<ComputationId>,
}

/// The program with the values in place that statements use which `chosen` runs on no threads; `None` if there are none.
pub(crate) fn values_in_place(ctx: &Ctx, scheduled: &Scheduled, chosen: &Schedule) -> Result<Option<InPlace>, Error> {
    let mut now = scheduled.clone();
    let (mut commands, mut users) = (vec![], vec![]);
    for id in scheduled.algorithm.ids() {
        let using = using(&scheduled.algorithm, id);
        if using.is_empty() || using.len() > USERS || using.iter().any(|&user| has_threads(chosen, user)) {
            continue;
        }
        let computation = scheduled.algorithm.computation(id).name.clone();
        match inline(ctx, &now, &computation) {
            Ok(next) => now = next,
            Err(error) if error.is_quota() => return Err(error),
            Err(_) => continue,
        }
        commands.push(Command::Inline { computation });
        users.extend(using);
    }
    if commands.is_empty() {
        return Ok(None);
    }
    let dependences = dependences(ctx, &now.algorithm)?;
    Ok(Some(InPlace { scheduled: now, dependences, commands, users }))
}

/// What uses the value of a variable that is set once in each iteration, not under a condition.
fn using(algorithm: &Algorithm, id: ComputationId) -> Vec<ComputationId> {
    let it = algorithm.computation(id);
    let array = it.write.array;
    if algorithm.array(array).kind != ArrayKind::Private || it.predicate.is_some() || it.iterators.is_empty() {
        return vec![];
    }
    let others = || algorithm.ids().filter(|&other| other != id);
    if others().any(|other| algorithm.computation(other).write.array == array) {
        return vec![];
    }
    others().filter(|&other| algorithm.computation(other).reads.iter().any(|read| read.array == array)).collect()
}
