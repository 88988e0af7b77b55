//! Fillings that nobody sees: `t = zeros(m, n)` of which every element that is read was written again before.
//!
//! The source cannot say that an array needs no values yet but by `similar` or `undef`. Where dataflow proves it, the statement is left out, as
//! if the source had said so: on a GPU that is a kernel less, on a CPU a pass over memory.

use crate::algorithm::{AccessRef, Algorithm, ArrayKind, ComputationId, Which};
use crate::dependence::{Dependence, DependenceKind, seen_of};
use crate::error::Error;
use crate::isl::Ctx;
use crate::relation;
use std::collections::BTreeSet;

/// The statements that give local arrays values that no read sees, for no sizes and whatever the data are.
///
/// A statement counts that reads nothing and runs under no condition on data, as those of `zeros`, `ones` and `fill` do.
/// `dependences` are all of the algorithm. All found may be left out together: who wrote the value that a read sees is none of them.
pub fn unread_fillings(
    ctx: &Ctx,
    algorithm: &Algorithm,
    dependences: &[Dependence],
) -> Result<BTreeSet<ComputationId>, Error> {
    let mut unread = BTreeSet::new();
    for id in algorithm.ids().filter(|&id| fills(algorithm, id)) {
        if !is_seen(ctx, algorithm, dependences, id)? && is_inside(ctx, algorithm, id)? {
            unread.insert(id);
        }
    }
    Ok(unread)
}

/// Whether a statement stores numbers into an array that only the function itself sees.
fn fills(algorithm: &Algorithm, id: ComputationId) -> bool {
    let it = algorithm.computation(id);
    let is_local = match algorithm.array(it.write.array).kind {
        ArrayKind::Local { .. } => true,
        ArrayKind::Argument | ArrayKind::Private | ArrayKind::Result | ArrayKind::Returned => false,
    };
    is_local && it.reads.is_empty() && it.writes_for_certain()
}

/// Whether a read may see what the statement writes: there is no certain write to the element between the two.
fn is_seen(ctx: &Ctx, algorithm: &Algorithm, all: &[Dependence], id: ComputationId) -> Result<bool, Error> {
    let write = AccessRef { computation: id, which: Which::Write };
    let is_flow = |it: &&Dependence| it.kind == DependenceKind::Flow && it.source == write;
    let is_overwritten_before = |sink: AccessRef| {
        let writes = |at: AccessRef| at != write && at.which == Which::Write;
        let certain = |at: AccessRef| algorithm.computation(at.computation).writes_for_certain();
        all.iter().any(|it| it.sink == sink && writes(it.source) && certain(it.source))
    };
    // Most fillings are for sums: told without isl.
    if all.iter().filter(is_flow).any(|it| !is_overwritten_before(it.sink)) {
        return Ok(true);
    }
    for flow in all.iter().filter(is_flow) {
        let this = |it: &Dependence| is_flow(&it) && it.sink == flow.sink;
        if !seen_of(ctx, algorithm, all, &this)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the elements exist for all sizes: else the source fails there, and so must what is left of it.
fn is_inside(ctx: &Ctx, algorithm: &Algorithm, id: ComputationId) -> Result<bool, Error> {
    let write = &algorithm.computation(id).write;
    let written = relation::access(ctx, algorithm, id, write)?.range()?;
    Ok(!write.checked || written.is_subset(&relation::index_set(ctx, algorithm, write.array)?)?)
}
