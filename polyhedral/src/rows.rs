//! Values that the lanes of a warp compute for one another: `share_rows(S, k)`.
//!
//! Where each lane goes through a row of its own, of a sparse matrix or a column of a dense one, the lanes of a warp read elements far apart, and each line
//! of memory comes for one of them. What an iteration computes from arrays that nothing in the kernel changes does not depend on who computes it:
//! so the lanes go through some iterations of all rows of the warp together, neighbours through neighbouring iterations, and leave the values in shared memory; then each
//! lane runs the iterations of its own row, in their order, with these values. Results have the same bits.
//!
//! # Source
//! Bell, Garland, *Implementing sparse matrix-vector multiplication on throughput-oriented processors*, SC 2009 (a warp reads a row); Greathouse, Daga,
//! *Efficient sparse matrix-vector multiplication on GPUs using the CSR storage format*, SC 2014 (several rows pass through shared memory). There the
//! terms of a row are added up in another order.

use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayId, Computation, ComputationId, Subscript};
use crate::error::RowsObstacle;
use crate::expr::{Expr, ExprKind, conjuncts};
use crate::schedule::{Loop, Node};
use std::collections::BTreeSet;
use tessella_scalar::BinaryOp;

/// The most bytes that the values of an iteration may take, of all of its statements.
pub const MOST_BYTES: u32 = 32;

/// What lanes compute for one another of a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Shared<'a> {
    /// The parts of the predicate that say whether an instance runs; none if it always does.
    pub asked: Vec<&'a Expr>,
    pub values: Vec<&'a Expr>,
}

impl Shared<'_> {
    /// The bytes that an iteration takes.
    pub fn bytes(&self) -> u32 {
        u32::from(!self.asked.is_empty()) + self.values.iter().map(|it| it.ty.bytes()).sum::<u32>()
    }
}

/// What lanes may compute for one another of a statement, of whose predicate these parts are asked in each iteration. Nothing of what
/// `is_changed` says of is stored into while they do.
pub fn shared<'a>(it: &'a Computation, asked: &[&'a Expr], is_changed: &dyn Fn(ArrayId) -> bool) -> Option<Shared<'a>> {
    if it.owner.is_some() || it.atomic || !asked.iter().all(|part| is_fixed(it, part, is_changed)) {
        return None;
    }
    let mut values = vec![];
    collect(it, &it.value, is_changed, &mut BTreeSet::new(), &mut values);
    (!values.is_empty()).then(|| Shared { asked: asked.to_vec(), values })
}

/// What lanes share of the iterations of a loop that holds nothing but statements.
pub fn of_loop<'a>(
    algorithm: &'a Algorithm,
    it: &Loop,
    is_changed: &dyn Fn(ArrayId) -> bool,
) -> Result<Vec<(ComputationId, Shared<'a>)>, RowsObstacle> {
    let children = match it.body.as_ref() {
        Node::Computation(_) => std::slice::from_ref(it.body.as_ref()),
        Node::Sequence(children) => children.as_slice(),
        Node::Loop(_) => return Err(RowsObstacle::Loops),
    };
    let mut found = vec![];
    for child in children {
        let Node::Computation(id) = child else { return Err(RowsObstacle::Loops) };
        let computation = algorithm.computation(*id);
        let parts = computation.predicate.as_ref().map(conjuncts).unwrap_or_default();
        let asked: Vec<&Expr> = parts.into_iter().filter(|part| is_of_iteration(computation, it, *id, part)).collect();
        found.extend(shared(computation, &asked, is_changed).map(|shared| (*id, shared)));
    }
    let bytes: u32 = found.iter().map(|(_, shared)| shared.bytes()).sum();
    match bytes {
        0 => Err(RowsObstacle::Values),
        1..=MOST_BYTES => Ok(found),
        _ => Err(RowsObstacle::Bytes),
    }
}

/// Whether a part of a predicate is asked in each iteration, and does not say where a loop begins or ends.
fn is_of_iteration(computation: &Computation, it: &Loop, id: ComputationId, part: &Expr) -> bool {
    let is_bound =
        |left: &Expr| computation.ranged.iter().any(|&at| left.kind == ExprKind::Index(Affine::iterator(at)));
    if matches!(&part.kind, ExprKind::Compare(_, left, _) if is_bound(left)) {
        return false;
    }
    let moves = |iterator: u32| it.at.get(&id).is_some_and(|at| at.involves_iterator(iterator));
    (0..computation.iterators.len() as u32)
        .any(|iterator| moves(iterator) && computation.expression_involves(part, iterator))
}

/// Adds the largest parts of an expression that read something, and none of it changes; without those that a condition may leave out.
fn collect<'a>(
    it: &'a Computation,
    expr: &'a Expr,
    is_changed: &dyn Fn(ArrayId) -> bool,
    lets: &mut BTreeSet<u32>,
    found: &mut Vec<&'a Expr>,
) {
    if is_fixed(it, expr, is_changed) {
        if reads_something(it, expr) && !found.contains(&expr) {
            found.push(expr);
        }
        return;
    }
    match &expr.kind {
        ExprKind::Let(at) if lets.insert(*at) => collect(it, &it.lets[*at as usize].value, is_changed, lets, found),
        ExprKind::Let(_) | ExprKind::Read(_) => {}
        ExprKind::Select { condition, .. } => collect(it, condition, is_changed, lets, found),
        ExprKind::Binary(BinaryOp::AndAlso | BinaryOp::OrElse, left, _) => collect(it, left, is_changed, lets, found),
        _ => expr.operands().into_iter().for_each(|part| collect(it, part, is_changed, lets, found)),
    }
}

/// Whether an expression has one value, whoever evaluates it and when.
fn is_fixed(it: &Computation, expr: &Expr, is_changed: &dyn Fn(ArrayId) -> bool) -> bool {
    let mut fixed = true;
    expr.walk(&mut |part| match &part.kind {
        ExprKind::Read(at) => {
            let access = &it.reads[*at as usize];
            fixed = fixed
                && !is_changed(access.array)
                && access.subscripts.iter().filter_map(Subscript::as_computed).all(|at| is_fixed(it, at, is_changed));
        }
        ExprKind::Let(at) => fixed = fixed && is_fixed(it, &it.lets[*at as usize].value, is_changed),
        _ => {}
    });
    fixed
}

fn reads_something(it: &Computation, expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| match &part.kind {
        ExprKind::Read(_) => found = true,
        ExprKind::Let(at) => found = found || reads_something(it, &it.lets[*at as usize].value),
        _ => {}
    });
    found
}
