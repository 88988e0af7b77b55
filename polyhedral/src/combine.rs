//! Loops over the threads of a block whose updates of one element the block combines.
//!
//! ```text
//! for b { for t { P = ..; S: Q[b] = Q[b] + P } }  ->  @block x for b { @combine for t { P = ..; S } }
//! ```
//!
//! Each thread offers what its instance would add; the block combines the offers along a tree, and its first thread updates the
//! element once. Which offers meet depends on their threads' numbers only: those of 32 neighbours along halves (thread `t` and
//! `t + 16`, then `t + 8`, ...), then those of the first thread of each 32, in the same way. So the result has the same bits in every run.
//! The source must let the order of the updates go, and the update must be the last thing that an iteration does.

use crate::affine::Affine;
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::expr::{Expr, ExprKind};
use crate::isl::Ctx;
use crate::reduction::{UpdateOrder, reduction};
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use tessella_scalar::{BinaryOp, Constant};

/// An update in the form that a block combines: `a = a op e`, in every instance.
#[derive(Debug, Clone, Copy)]
pub struct Update<'a> {
    pub operator: BinaryOp,
    /// `e`
    pub operand: &'a Expr,
    /// What changes nothing when it is combined with any value: the offer of a thread that has no instance.
    pub neutral: Constant,
}

/// The update that a computation is, if its form and its source let a block combine several.
pub fn update(algorithm: &Algorithm, id: ComputationId) -> Option<Update<'_>> {
    let it = algorithm.computation(id);
    let reduction = reduction(algorithm, id).filter(|it| it.order != UpdateOrder::Source)?;
    let ExprKind::Binary(operator, old, operand) = &it.value.kind else { return None };
    let is_old = matches!(old.kind, ExprKind::Read(at) if it.reads[at as usize].array == it.write.array);
    let neutral = reduction.operator.neutral(it.value.ty)?;
    let plain =
        !it.atomic && it.predicate.is_none() && it.lets.is_empty() && it.ranged.is_empty() && it.write.is_affine();
    // `a - e` is no chain of `e`s.
    (plain && is_old && *operator != BinaryOp::Sub).then_some(Update { operator: *operator, operand, neutral })
}

/// The computation whose updates the block combines that runs the loop at `path`.
pub fn combined(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    path: &Path,
) -> Result<Option<ComputationId>, Error> {
    let Some(Node::Loop(it)) = schedule.node(path) else { return Ok(None) };
    let Some(id) = last(&it.body) else { return Ok(None) };
    let around = schedule.loops_around(id).into_iter().filter(|(outer, _)| outer.0.len() < path.0.len());
    let around: Vec<Affine> = around.map(|(_, it)| it.at[&id].clone()).collect();
    Ok(combines(ctx, algorithm, &around, it, id)?.then_some(id))
}

/// Whether a loop, inside of others that run through these functions, combines the updates of a computation: they end its
/// iterations, and all that one execution of the loop runs are of one element.
pub(crate) fn combines(
    ctx: &Ctx,
    algorithm: &Algorithm,
    around: &[Affine],
    it: &Loop,
    id: ComputationId,
) -> Result<bool, Error> {
    if it.tag != Tag::Combine || last(&it.body) != Some(id) || update(algorithm, id).is_none() {
        return Ok(false);
    }
    let executions = relation::functions(ctx, algorithm, id, around)?
        .intersect_domain(&relation::domain(algorithm, id)?)?
        .reverse()?;
    let written = relation::access(ctx, algorithm, id, &algorithm.computation(id).write)?;
    Ok(executions.apply_range(&written)?.is_single_valued()?)
}

/// The computation that a loop's body ends with.
fn last(body: &Node) -> Option<ComputationId> {
    match body {
        Node::Computation(id) => Some(*id),
        Node::Sequence(children) => match children.last() {
            Some(Node::Computation(id)) => Some(*id),
            Some(Node::Sequence(_) | Node::Loop(_)) | None => None,
        },
        Node::Loop(_) => None,
    }
}
