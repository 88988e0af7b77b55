//! Kernels whose threads are warps: of statements that store into elements with owners ([`Owner`]), few of whose iterations an owner runs.
//!
//! A warp goes through the iterations of such a loop 32 at a time: each lane looks whether the owner has anything to do in one of them, and loads
//! what that needs; then the lanes that have take turns, so that everything is stored in the order of the loop.
//!
//! [`Owner`]: tessella_polyhedral::algorithm::Owner

use crate::input::Input;
use crate::int_expr::{Cond, IntExpr};
use crate::program::{For, Node, Statement, Update};
use std::collections::BTreeSet;
use tessella_polyhedral::algorithm::{Access, ArrayId, Computation, Subscript};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::layers::BufferId;
use tessella_polyhedral::reduction::is_old;
use tessella_polyhedral::schedule::ProcessorAxis;
use tessella_scalar::{BinaryOp, CompareOp};

/// Lanes of a warp.
pub const LANES: u32 = 32;

/// Inner loops with so many iterations at most, in all, are gone through by one lane.
pub const SHORT: i64 = 64;

/// What lanes of a warp look at, each at one of it at a time.
pub enum Shared<'a> {
    /// Iterations of a loop that holds statements alone.
    Statements(Vec<&'a Statement>),
    /// Iterations of a loop that holds short ones.
    Nest,
    /// The same if this holds, which is the same for all of them; else iterations of the loop inside.
    NestIf(Cond),
}

/// Whether the threads of a kernel, which loops spread over these axes, are warps.
pub fn are_warps(input: &Input<'_>, threads: &BTreeSet<ProcessorAxis>, body: &[Node]) -> bool {
    let has_statements = body.iter().any(|node| {
        let mut found = false;
        node.walk(&mut |node| found |= matches!(node, Node::Statement(_)));
        found
    });
    let only_y = !threads.is_empty() && !threads.contains(&ProcessorAxis::X);
    only_y && has_statements && body.iter().all(|node| only_shared(input, node))
}

/// Whether all statements of a node lie in loops that lanes share.
fn only_shared(input: &Input<'_>, node: &Node) -> bool {
    match node {
        Node::For(it) if shared_by_lanes(input, it).is_some() => true,
        Node::Let { .. } => true,
        Node::For(_) | Node::If { .. } | Node::Spread(_) => {
            node.blocks().into_iter().flatten().all(|inner| only_shared(input, inner))
        }
        _ => false,
    }
}

/// How lanes share the iterations of a loop; `None` if they cannot.
pub fn shared_by_lanes<'a>(input: &Input<'_>, it: &'a For) -> Option<Shared<'a>> {
    let mut statements = vec![];
    if it.step != 1
        || it.wide.is_some()
        || it.going.is_some()
        || it.body.is_empty()
        || !gather(&it.body, &mut statements)
    {
        return None;
    }
    if !look_ahead(input, &statements) {
        return None;
    }
    if it.body.iter().all(|node| matches!(node, Node::Statement(_))) {
        return Some(Shared::Statements(statements));
    }
    let mut inner = vec![];
    it.body.iter().for_each(|node| {
        node.walk(&mut |node| {
            if let Node::For(inside) = node {
                inner.push((inside.clip.is_some(), inside.lower.clone(), inside.upper.clone()));
            }
        });
    });
    // Rows are short.
    if inner.is_empty() || inner.iter().any(|(is_ranged, ..)| *is_ranged) {
        return Some(Shared::Nest);
    }
    let known = |(_, lower, upper): &(bool, IntExpr, IntExpr)| Some(upper.as_const()? - lower.as_const()? + 1);
    if let Some(all) = inner.iter().map(known).try_fold(1i64, |all, count| all.checked_mul(count?)) {
        return (all <= SHORT).then_some(Shared::Nest);
    }
    let [Node::For(inside)] = it.body.as_slice() else { return None };
    // Those further in have a known length.
    let others = inner[1..].iter().map(known).try_fold(1i64, |all, count| all.checked_mul(count?.max(1)))?;
    let extent = inside.upper.clone().minus(inside.lower.clone());
    let mut bound = BTreeSet::from([it.variable]);
    it.body.iter().for_each(|node| node.walk(&mut |node| bound.extend(node.bound())));
    if extent.involves(&|variable| bound.contains(&variable)) || shared_by_lanes(input, inside).is_none() {
        return None;
    }
    Some(Shared::NestIf(Cond::compare(CompareOp::Lt, extent, IntExpr::Const(SHORT / others))))
}

/// The statements of nodes; whether there are only plain loops and conditions around them.
fn gather<'a>(nodes: &'a [Node], statements: &mut Vec<&'a Statement>) -> bool {
    nodes.iter().all(|node| match node {
        Node::Statement(it) => {
            statements.push(it);
            it.update == Update::Stored && it.inside.is_none()
        }
        Node::Let { .. } => true,
        Node::For(it) => it.wide.is_none() && it.going.is_none() && gather(&it.body, statements),
        Node::If { then, otherwise, .. } => gather(then, statements) && gather(otherwise, statements),
        _ => false,
    })
}

/// Whether lanes can tell which of these run, and load what they need, before any of them has run.
fn look_ahead(input: &Input<'_>, statements: &[&Statement]) -> bool {
    let all: Vec<&Computation> = statements.iter().map(|it| input.algorithm.computation(it.computation)).collect();
    let written: BTreeSet<BufferId> = all.iter().map(|it| input.buffer_of(it.write.array)).collect();
    let is_changed = |array: ArrayId| written.contains(&input.buffer_of(array));
    all.iter().all(|it| {
        it.owner.is_some_and(|owner| owner.array == it.write.array)
            && !it.decided_by().into_iter().any(is_changed)
            && it.reads.iter().all(|read| is_old(it, read) || !is_changed(read.array))
    })
}

/// The reads of an expression, those of subscripts before what they say the element of; without those that a condition may leave out, or whose subscripts
/// have names.
pub fn reads_of<'a>(it: &'a Computation, expr: &'a Expr) -> Vec<&'a Access> {
    match &expr.kind {
        ExprKind::Read(at) => {
            let access = &it.reads[*at as usize];
            let subscripts: Vec<&Expr> = access.subscripts.iter().filter_map(Subscript::as_computed).collect();
            let own = it.lets_below(subscripts.iter().copied()).is_empty().then_some(access);
            subscripts.into_iter().flat_map(|subscript| reads_of(it, subscript)).chain(own).collect()
        }
        ExprKind::Select { condition, .. } => reads_of(it, condition),
        ExprKind::Binary(BinaryOp::AndAlso | BinaryOp::OrElse, left, _) => reads_of(it, left),
        ExprKind::Let(_) => vec![],
        _ => expr.operands().into_iter().flat_map(|part| reads_of(it, part)).collect(),
    }
}
