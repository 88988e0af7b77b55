//! Loops over the threads of a block whose updates of one element the block combines.
//!
//! ```text
//! for b { for t { P = ..; S: Q[b] = Q[b] + P } }  ->  @block x for b { @combine for t { P = ..; S } }
//! ```
//!
//! Each thread offers what its instance would add; the block combines the offers along a tree, and its first thread updates the
//! element once. Which offers meet depends on their threads' numbers only: those of 32 neighbours along halves (thread `t` and
//! `t + 16`, then `t + 8`, ...), then those of the first thread of each 32, in the same way. So the result has the same bits in every run.
//! The source must let the order of the updates go, and the update must be the last thing that an iteration does. Several updates may
//! end it, each of an element of its own: the block combines the offers to each of them.

use crate::affine::Affine;
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::expr::{Expr, ExprKind};
use crate::isl::Ctx;
use crate::reduction::{UpdateOrder, reduction};
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use crate::storage::uses;
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

/// The computations whose updates the block combines in the loop at `path`, in their order.
pub fn combined(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    path: &Path,
) -> Result<Vec<ComputationId>, Error> {
    let Some(Node::Loop(it)) = schedule.node(path) else { return Ok(vec![]) };
    let Some(&last) = last(&it.body).last() else { return Ok(vec![]) };
    let around = schedule.loops_around(last).into_iter().filter(|(outer, _)| outer.0.len() < path.0.len());
    let around: Vec<&Loop> = around.map(|(_, it)| it).collect();
    all_combined(ctx, algorithm, &around, it)
}

/// Whether a loop, inside of others, combines the updates of a computation.
pub(crate) fn combines(
    ctx: &Ctx,
    algorithm: &Algorithm,
    around: &[&Loop],
    it: &Loop,
    id: ComputationId,
) -> Result<bool, Error> {
    Ok(it.tag == Tag::Combine && all_combined(ctx, algorithm, around, it)?.contains(&id))
}

/// The updates that a loop inside of others combines: those that end its iterations, where all of one that an execution of the loop
/// runs are of one element. What comes after one of them does not touch its element.
fn all_combined(ctx: &Ctx, algorithm: &Algorithm, around: &[&Loop], it: &Loop) -> Result<Vec<ComputationId>, Error> {
    let mut found: Vec<ComputationId> = vec![];
    if it.tag != Tag::Combine {
        return Ok(found);
    }
    for id in last(&it.body).into_iter().rev() {
        let array = algorithm.computation(id).write.array;
        let is_touched = found.iter().any(|&later| uses(algorithm, later, array));
        if is_touched || update(algorithm, id).is_none() || !is_of_one_element(ctx, algorithm, around, id)? {
            break;
        }
        found.insert(0, id);
    }
    Ok(found)
}

/// Whether all instances of an update that run with the same values of the loops around are of one element.
fn is_of_one_element(ctx: &Ctx, algorithm: &Algorithm, around: &[&Loop], id: ComputationId) -> Result<bool, Error> {
    let around: Vec<Affine> = around.iter().map(|it| it.at[&id].clone()).collect();
    let executions = relation::functions(ctx, algorithm, id, &around)?
        .intersect_domain(&relation::domain(algorithm, id)?)?
        .reverse()?;
    let written = relation::access(ctx, algorithm, id, &algorithm.computation(id).write)?;
    Ok(executions.apply_range(&written)?.is_single_valued()?)
}

/// The computations that a loop's body ends with, in their order.
fn last(body: &Node) -> Vec<ComputationId> {
    match body {
        Node::Computation(id) => vec![*id],
        Node::Sequence(children) => {
            let is_nest = |node: &Node| !matches!(node, Node::Computation(_));
            let first = children.iter().rposition(is_nest).map_or(0, |at| at + 1);
            children[first..].iter().flat_map(Node::computations).collect()
        }
        Node::Loop(_) => vec![],
    }
}
