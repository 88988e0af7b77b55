//! Loops that data end: where nothing happens in later iterations, they are not run.
//!
//! ```text
//! for k { guard = going; if (guard) S; if (guard && c) going = false }   ->   for k while going { ... }
//! ```
//!
//! Nothing is believed of where the loop comes from. Its first statement keeps a variable from outside of the loop for the
//! iteration, and all others run only where that holds. So an iteration that begins with the variable false changes
//! nothing that anything else reads, and neither does any after it. Where the first statement runs only under conditions
//! that the loop does not change, all others run only under these, too, and the loop has them besides the variable. Statements
//! whose results belong to the iteration alone, as the starts of partial sums, may run or not.
//!
//! A loop of the host launches kernels, whose statements are those of the loop. The host looks at variables in the device's memory now
//! and then: iterations that run for nothing do nothing.

use crate::error::CodegenError;
use crate::input::Input;
use crate::int_expr::IntExpr;
use crate::program::{For, Going, Kernel, Node, Statement};
use crate::ranges::values;
use std::collections::BTreeSet;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Access, ArrayId, ArrayKind, Computation, Subscript};
use tessella_polyhedral::expr::{Expr, ExprKind, conjuncts};
use tessella_polyhedral::layers::MemorySpace;
use tessella_polyhedral::schedule::Tag;
use tessella_scalar::{BinaryOp, ScalarType, UnaryOp};

/// A loop with more iterations has no end but what data give it: no range over sizes is that long.
pub const ENDLESS: i64 = 1 << 44;

/// Ends loops where data say so. The kernels are those that the nodes launch.
///
/// # Errors
/// E0316 for a loop that only data end, which would not be left.
pub fn leave(input: &Input<'_>, kernels: &[Kernel], nodes: Vec<Node>) -> Result<Vec<Node>, CodegenError> {
    nodes.into_iter().map(|node| in_node(input, kernels, node)).collect()
}

fn in_node(input: &Input<'_>, kernels: &[Kernel], node: Node) -> Result<Node, CodegenError> {
    let all = |nodes: Vec<Node>| leave(input, kernels, nodes);
    Ok(match node {
        Node::For(it) => {
            let going = going(input, kernels, &it);
            let is_endless = it.upper.as_const().is_some_and(|upper| upper > ENDLESS);
            if going.is_none() && is_endless {
                let has_launch = it.body.iter().any(|node| any(node, &|node| matches!(node, Node::Launch(_))));
                return Err(CodegenError::Endless { name: it.name, on_device: has_launch });
            }
            Node::For(For { going: going.map(Box::new), body: all(it.body)?, ..it })
        }
        Node::If { condition, then, otherwise } => Node::If { condition, then: all(then)?, otherwise: all(otherwise)? },
        Node::Declare { buffer, body } => Node::Declare { buffer, body: all(body)? },
        Node::Spread(mut it) => {
            it.body = all(it.body)?;
            Node::Spread(it)
        }
        Node::OneThread { axes, body } => Node::OneThread { axes, body: all(body)? },
        Node::Together { kernel, apart } => Node::Together { kernel, apart: all(apart)? },
        Node::Turns(mut it) => {
            it.body = all(it.body)?;
            Node::Turns(it)
        }
        other @ (Node::Statement(_)
        | Node::Tile(_)
        | Node::Let { .. }
        | Node::Launch(_)
        | Node::Copy { .. }
        | Node::Barrier
        | Node::GridBarrier
        | Node::Await(_)
        | Node::Streaming(_)) => other,
    })
}

/// The variable without which a loop's iterations do nothing.
fn going(input: &Input<'_>, kernels: &[Kernel], it: &For) -> Option<Going> {
    let launched = launched(kernels, &it.body)?;
    let is_shared = |node: &Node| (launched.is_empty() || !matches!(node, Node::Launch(_))) && is_shared(node);
    if it.tag != Tag::Sequential || it.clip.is_some() || it.body.iter().any(|node| any(node, &is_shared)) {
        return None;
    }
    let (mut statements, mut inside) = (vec![], BTreeSet::from([it.variable]));
    for node in it.body.iter().chain(launched.iter().flat_map(|kernel| &kernel.body)) {
        node.walk(&mut |node| match node {
            Node::Statement(statement) => statements.push(statement),
            other => inside.extend(other.bound()),
        });
    }
    let first = leading(kernels, &it.body)?;
    let guard = input.algorithm.computation(first.computation);
    let ExprKind::Read(flag) = guard.value.kind else { return None };
    let flag = guard.reads.get(flag as usize)?;
    let is_private = |array: ArrayId| {
        let array = input.algorithm.array(array);
        array.kind == ArrayKind::Private && array.element == ScalarType::Bool
    };
    if !is_private(guard.write.array) || !is_private(flag.array) {
        return None;
    }
    // The host looks at single elements of the device's memory.
    let is_seen = |array: ArrayId| {
        let buffer = input.layout.buffer(input.buffer_of(array));
        launched.is_empty() || (buffer.space == MemorySpace::Global && buffer.extents.is_empty())
    };
    if !is_seen(flag.array) {
        return None;
    }
    let kept = places(&guard.write, first)?;
    let outer = |value: &IntExpr| !value.involves(&|variable| inside.contains(&variable));
    if !places(flag, first)?.iter().flatten().all(outer) {
        return None;
    }
    let mut here: BTreeSet<_> = statements.iter().map(|statement| statement.computation).collect();
    // For other sizes, isl makes a loop of its own of the same one, with statements that this one has no instances of. They run where the
    // flag is kept, too, and so read nothing of what an iteration that is left out would have made.
    let whole = input.schedule.loops_around(first.computation);
    let path = whole.iter().find(|(_, around)| around.name == it.name).map(|(path, _)| path);
    here.extend(input.algorithm.ids().filter(|&id| {
        let around = input.schedule.loops_around(id);
        let beside = path.is_some_and(|path| around.iter().any(|(other, _)| other == path));
        let mut asked = asks(input.algorithm.computation(id));
        beside && asked.any(|(read, value)| read.array == guard.write.array && value)
    }));
    let changes = |array: ArrayId| here.iter().any(|&id| input.algorithm.computation(id).write.array == array);
    let mut conditions = vec![];
    for part in guard.predicate.as_ref().map(conjuncts).unwrap_or_default() {
        let (read, expected) = asked(guard, part)?;
        let at = places(read, first)?;
        let is_known = is_private(read.array) && is_seen(read.array);
        if !is_known || changes(read.array) || !at.iter().flatten().all(outer) {
            return None;
        }
        conditions.push((read.array, at, expected));
    }
    // An array that is made anew in each iteration, for nobody outside of it.
    let is_of_iteration = |statement: &Statement| {
        let write = &input.algorithm.computation(statement.computation).write;
        let touches = |computation: &Computation| {
            let accesses = computation.reads.iter().chain([&computation.write]);
            accesses.into_iter().any(|access| access.array == write.array)
        };
        let anew = match input.algorithm.array(write.array).kind {
            ArrayKind::Private => write.subscripts.len(),
            ArrayKind::Local { outer } => outer as usize,
            ArrayKind::Argument | ArrayKind::Result | ArrayKind::Returned => 0,
        };
        let around = input.schedule.loops_around(statement.computation);
        let own = around.iter().find(|(_, around)| around.name == it.name);
        let iterator =
            own.and_then(|(_, own)| own.at.get(&statement.computation)).filter(|at| at.as_iterator().is_some());
        iterator.is_some()
            && write.subscripts[..anew].iter().any(|subscript| subscript.as_affine() == iterator)
            && input.algorithm.ids().all(|id| here.contains(&id) || !touches(input.algorithm.computation(id)))
    };
    let runs_if_kept = |statement: &&Statement| {
        statement.computation == first.computation || is_of_iteration(statement) || {
            let computation = input.algorithm.computation(statement.computation);
            let demands = |array: ArrayId, at: &[Option<IntExpr>], expected: bool| {
                let mut asked = asks(computation).filter(|&(read, value)| read.array == array && value == expected);
                asked.any(|(read, _)| is_same(at, places(read, statement)))
            };
            demands(guard.write.array, &kept, true)
                && conditions.iter().all(|(array, at, expected)| demands(*array, at, *expected))
        }
    };
    let elsewhere = input.algorithm.computations.iter().enumerate().any(|(at, computation)| {
        let touches = |access: &Access| access.array == guard.write.array;
        let is_here = here.iter().any(|id| id.0 as usize == at);
        let sets = touches(&computation.write) && at != first.computation.0 as usize;
        sets || (!is_here && computation.reads.iter().any(touches))
    });
    let once = statements.iter().filter(|statement| statement.computation == first.computation).count() == 1;
    if elsewhere || !once || !statements.iter().all(runs_if_kept) {
        return None;
    }
    let iterators = values(first).into_iter().map(|value| value.filter(outer)).collect();
    let condition = match &guard.predicate {
        None => guard.value.clone(),
        Some(predicate) => {
            let (left, right) = (Box::new(predicate.clone()), Box::new(guard.value.clone()));
            Expr { kind: ExprKind::Binary(BinaryOp::AndAlso, left, right), ty: ScalarType::Bool }
        }
    };
    Some(Going { computation: first.computation, iterators, condition })
}

/// The kernels that a loop's body launches; `None` if one has statements that are no nodes.
fn launched<'a>(kernels: &'a [Kernel], body: &[Node]) -> Option<Vec<&'a Kernel>> {
    let mut found = vec![];
    for node in body {
        node.walk(&mut |node| {
            if let Node::Launch(id) = node {
                found.extend(kernels.get(id.0 as usize));
            }
        });
    }
    let streams = |kernel: &&Kernel| kernel.body.iter().any(|node| any(node, &|it| matches!(it, Node::Streaming(_))));
    (!found.iter().any(streams)).then_some(found)
}

/// What several threads do together, and what happens on another machine.
fn is_shared(node: &Node) -> bool {
    match node {
        Node::Launch(_)
        | Node::Copy { .. }
        | Node::Together { .. }
        | Node::Barrier
        | Node::GridBarrier
        | Node::Await(_)
        | Node::Spread(_)
        | Node::Turns(_)
        | Node::OneThread { .. }
        | Node::Streaming(_) => true,
        Node::For(_)
        | Node::Tile(_)
        | Node::If { .. }
        | Node::Let { .. }
        | Node::Statement(_)
        | Node::Declare { .. } => false,
    }
}

fn any(node: &Node, test: &dyn Fn(&Node) -> bool) -> bool {
    let mut found = false;
    node.walk(&mut |node| found |= test(node));
    found
}

/// The statement that every iteration begins with.
fn leading<'a>(kernels: &'a [Kernel], body: &'a [Node]) -> Option<&'a Statement> {
    match body.first()? {
        Node::Statement(statement) => Some(statement),
        Node::Declare { body, .. } | Node::OneThread { body, .. } => leading(kernels, body),
        Node::Let { .. } => leading(kernels, &body[1..]),
        Node::Launch(id) => leading(&[], &kernels.get(id.0 as usize)?.body),
        Node::For(_)
        | Node::If { .. }
        | Node::Copy { .. }
        | Node::Spread(_)
        | Node::Together { .. }
        | Node::Turns(_)
        | Node::Barrier
        | Node::GridBarrier
        | Node::Await(_)
        | Node::Tile(_)
        | Node::Streaming(_) => None,
    }
}

/// The reads that a computation's predicate asks for by themselves, and what they must be.
fn asks(computation: &Computation) -> impl Iterator<Item = (&Access, bool)> {
    let parts = computation.predicate.as_ref().map(conjuncts).unwrap_or_default();
    parts.into_iter().filter_map(|part| asked(computation, part))
}

/// The read that a condition is, or is the opposite of.
pub(crate) fn asked<'a>(computation: &'a Computation, part: &Expr) -> Option<(&'a Access, bool)> {
    let (part, expected) = match &part.kind {
        ExprKind::Unary(UnaryOp::Not, operand) => (&**operand, false),
        _ => (part, true),
    };
    match part.kind {
        ExprKind::Read(read) => Some((computation.reads.get(read as usize)?, expected)),
        _ => None,
    }
}

/// The values of an access's subscripts, all of them iterators; `None` for an iterator that the statement does not use,
/// on which the place in memory does not depend.
fn places(access: &Access, statement: &Statement) -> Option<Vec<Option<IntExpr>>> {
    let values = values(statement);
    let place = |subscript: &Subscript| match subscript {
        Subscript::Affine(affine) => {
            let at = (0..values.len()).find(|&at| *affine == Affine::iterator(at as u32))?;
            Some(values[at].clone())
        }
        Subscript::Computed(_) => None,
    };
    access.subscripts.iter().map(place).collect()
}

/// Whether two accesses to one array are to one place in memory.
fn is_same(kept: &[Option<IntExpr>], read: Option<Vec<Option<IntExpr>>>) -> bool {
    let same = |(a, b): (&Option<IntExpr>, &Option<IntExpr>)| match (a, b) {
        (Some(a), Some(b)) => a == b,
        (None, _) | (_, None) => true,
    };
    read.is_some_and(|read| kept.len() == read.len() && kept.iter().zip(&read).all(same))
}
