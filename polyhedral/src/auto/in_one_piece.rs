//! Updates that threads make in one piece, where data say which element each is of.
//!
//! ```text
//! for e { degree[from[e]] += 1; degree[to[e]] += 1 }  ->  for e, in parallel { atomic; atomic }
//! ```
//!
//! Updates of one array by one operator come in any order, whichever statements they are of. But a loop may have other reasons to keep its
//! order, such as `rank[e] = degree[from[e]]` beside these. Then updates in one piece gain nothing, and owners of elements
//! (`owned.rs`), which refuse them, may have the loop run in parallel: so they become atomic only where their loops then have no order, or
//! could have loops for themselves that have none.

use super::partial_sums::Parted;
use crate::algorithm::{ArrayId, ComputationId};
use crate::command::Command;
use crate::error::Error;
use crate::isl::Ctx;
use crate::reduction::{UpdateOrder, reductions};
use crate::transform::atomic;
use std::collections::BTreeSet;

/// The program in which threads make such updates in one piece.
pub(super) fn updated(ctx: &Ctx, parted: Parted) -> Result<Parted, Error> {
    let algorithm = &parted.scheduled.algorithm;
    let mut wanted: Vec<(ArrayId, ComputationId)> = vec![];
    for it in reductions(algorithm) {
        let computation = algorithm.computation(it.computation);
        let free = it.order != UpdateOrder::Source && !computation.write.is_affine();
        if !free || atomic::update(algorithm, it.computation).is_err() {
            continue;
        }
        // What runs beside others as it is has a thread for each element.
        let scatters = computation.ranged.is_empty() && parted.scatters(&computation.name);
        if scatters || !parted.runs_in_parallel(ctx, &computation.name)? {
            wanted.push((it.array, it.computation));
        }
    }
    let name = |id: ComputationId| algorithm.computation(id).name.clone();
    loop {
        let mut trial = parted.clone();
        for &(_, id) in &wanted {
            trial.carry_out(ctx, Command::Atomic { computation: name(id) })?;
        }
        let mut in_order: BTreeSet<ArrayId> = BTreeSet::new();
        for &(array, id) in &wanted {
            if !in_order.contains(&array) && !runs_apart(ctx, &trial, &name(id))? {
                in_order.insert(array);
            }
        }
        if in_order.is_empty() {
            return Ok(trial);
        }
        wanted.retain(|(array, _)| !in_order.contains(array));
    }
}

/// Whether a loop around a statement has no order, if need be once the statement has loops for itself.
fn runs_apart(ctx: &Ctx, parted: &Parted, name: &str) -> Result<bool, Error> {
    if parted.runs_in_parallel(ctx, name)? {
        return Ok(true);
    }
    let mut apart = parted.clone();
    apart.stand_apart(ctx, name)?;
    apart.runs_in_parallel(ctx, name)
}
