//! Cutting computations into pieces where that frees loops: a computation that reads what it writes in another row or
//! column waits for itself on both sides of where the two cross, and for nothing within one side.
//!
//! ```text
//! for k { for j { for i { A[i,j] = f(A[i,j], A[i,k], A[k,j]) } } }
//!   -> for k { parallel for j < k { for i < k { .. } }; ..; parallel for j > k { for i > k { .. } } }
//! ```
//!
//! # Source
//! Griebl, Feautrier, Lengauer, *Index set splitting*, IJPP 28(6), 2000.

use super::chooser::tagged;
use crate::affine::Atom;
use crate::algorithm::{Algorithm, ComputationId};
use crate::command::Command;
use crate::dependence::Dependence;
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::schedule::Schedule;
use crate::transform::pieces;
use std::collections::BTreeSet;

/// More computations than this are not cut, nor one in more places.
const MOST: usize = 2;

/// A program with computations cut into pieces.
#[derive(Debug, Clone)]
pub struct Cuts {
    /// What cuts them.
    pub commands: Vec<Command>,
    pub pieces: Vec<ComputationId>,
    /// The dependences of the pieces and of what else there is.
    pub dependences: Vec<Dependence>,
}

/// The program with those computations cut that `chosen`, an order for it, leaves without threads; `None` if there are none
/// that read another row or column of what they write.
pub(crate) fn cut(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    chosen: &Schedule,
) -> Result<Option<(Scheduled, Cuts)>, Error> {
    let algorithm = &scheduled.algorithm;
    let mut places = vec![];
    let tagged = tagged(&scheduled.schedule);
    for id in algorithm.ids().filter(|&id| !has_threads(chosen, id) && !tagged.contains(&id)) {
        let found = crossings(algorithm, id);
        if !found.is_empty() {
            places.push((id, found));
        }
    }
    if places.is_empty() || places.len() > MOST || places.iter().any(|(_, found)| found.len() > MOST) {
        return Ok(None);
    }
    let mut now = scheduled.clone();
    let mut cuts = Cuts { commands: vec![], pieces: vec![], dependences: dependences.to_vec() };
    for (id, found) in places {
        let mut members = vec![id];
        for (inner, outer) in found {
            for piece in members.clone() {
                let around = now.schedule.loops_around(piece);
                let name = |iterator: u32| {
                    let own = around.iter().find(|(_, it)| it.at[&piece].as_iterator() == Some(iterator))?;
                    Some(own.1.name.clone())
                };
                let (Some(first), Some(second)) = (name(inner), name(outer)) else { return Ok(None) };
                let computation = now.algorithm.computation(piece).name.clone();
                match pieces(ctx, &now, &cuts.dependences, &computation, &first, &second) {
                    Ok((next, renewed)) => {
                        let added = now.algorithm.computations.len()..next.algorithm.computations.len();
                        members.extend(added.map(|at| ComputationId(at as u32)));
                        (now, cuts.dependences) = (next, renewed);
                        cuts.commands.push(Command::Pieces { computation, first, second });
                    }
                    Err(Error::Schedule(ScheduleError::OnePiece { .. })) => {}
                    Err(other) => return Err(other),
                }
            }
        }
        cuts.pieces.extend(members);
    }
    Ok((!cuts.commands.is_empty()).then_some((now, cuts)))
}

/// Whether some loop around a computation runs in no order.
pub(crate) fn has_threads(schedule: &Schedule, id: ComputationId) -> bool {
    schedule.loops_around(id).iter().any(|(_, it)| !it.tag.keeps_order())
}

/// Iterators, the inner one first, at whose crossing the element that a computation reads is in the row or column of the one
/// that it writes.
fn crossings(algorithm: &Algorithm, id: ComputationId) -> BTreeSet<(u32, u32)> {
    let computation = algorithm.computation(id);
    let mut found = BTreeSet::new();
    for read in computation.reads.iter().filter(|read| read.array == computation.write.array) {
        for (written, read) in computation.write.subscripts.iter().zip(&read.subscripts) {
            let (Some(written), Some(read)) = (written.as_affine(), read.as_affine()) else { continue };
            let Ok(apart) = written.sub(read) else { continue };
            if let ([(Atom::Iterator(one), left), (Atom::Iterator(other), right)], 0) =
                (apart.terms(), apart.constant_term())
                && [(1, -1), (-1, 1)].contains(&(*left, *right))
            {
                found.insert((*one.max(other), *one.min(other)));
            }
        }
    }
    found
}
