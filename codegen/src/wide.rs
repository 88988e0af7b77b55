//! Copies between the registers of a GPU thread and neighbouring elements of global memory, in vectors of up to 16 bytes.
//!
//! Rewrite: `for x in 0:7 { r[x] = A[c + x] } -> if A's columns begin at multiples of 16 bytes { r[0:3] = A[c:c+3]; r[4:7] =
//! A[c+4:c+7] } else { r[0:7] = A[c:c+7], peeled }`
//!
//! The loop is unrolled and does nothing else, so that a vector moves the elements that the loop moves, and no others. Which of
//! them begin a vector is known here, as far as the first column begins at a multiple of its size and columns are multiples
//! of it long; the kernel asks whether that is so. Where it is not, the run's own address tells how many elements to peel
//! before the first vector.

use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::program::{For, Node, Statement};
use crate::tile::{is_dense, subscripts_of};
use std::collections::BTreeMap;
use tessella_polyhedral::algorithm::{Access, ComputationId};
use tessella_polyhedral::layers::{BufferId, MemorySpace};
use tessella_polyhedral::machine::{VECTOR_BYTES, vector_parts};
use tessella_polyhedral::schedule::Tag;
use tessella_scalar::CompareOp;

/// How a loop that copies elements moves several at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Wide {
    pub direction: Direction,
    pub computation: ComputationId,
    /// The values of the computation's iterators, over the variables around the statement.
    pub iterators: Vec<IntExpr>,
    /// Where all iterations of the loop are run.
    pub all: Cond,
    /// The buffer in global memory, which must begin at a multiple of so many bytes.
    pub buffer: BufferId,
    pub bytes: i64,
    /// What must hold of its extents.
    pub columns: Cond,
    /// The values of the loop's variable that move together, in order: the first of each part, and how many.
    pub parts: Vec<(i64, i64)>,
}

impl Wide {
    /// All of the loop's values as one part.
    pub fn run(&self) -> (i64, i64) {
        let first = self.parts.first().map_or(0, |(first, _)| *first);
        (first, self.parts.iter().map(|(_, count)| count).sum())
    }
}

/// Which side of a copy the registers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Load,
    Store,
}

/// A kernel's body whose copies know how to move several elements at once.
pub fn widen(input: &Input<'_>, nodes: Vec<Node>) -> Vec<Node> {
    let inside = |nodes: Vec<Node>| widen(input, nodes);
    let one = |node: Node| match node {
        Node::For(mut it) => {
            it.wide = wide(input, &it).map(Box::new);
            it.body = inside(it.body);
            Node::For(it)
        }
        Node::Spread(mut it) => {
            it.body = inside(it.body);
            Node::Spread(it)
        }
        Node::If { condition, then, otherwise } => {
            Node::If { condition, then: inside(then), otherwise: inside(otherwise) }
        }
        Node::Declare { buffer, body } => Node::Declare { buffer, body: inside(body) },
        Node::OneThread { axes, body } => Node::OneThread { axes, body: inside(body) },
        Node::Turns(mut it) => {
            it.body = inside(it.body);
            Node::Turns(it)
        }
        other @ (Node::Let { .. }
        | Node::Statement(_)
        | Node::Launch(_)
        | Node::Together { .. }
        | Node::GridBarrier
        | Node::Copy { .. }
        | Node::Barrier
        | Node::Await(_)
        | Node::Tile(_)
        | Node::Streaming(_)) => other,
    };
    nodes.into_iter().map(one).collect()
}

/// The vectors of a loop, if it only copies between registers and neighbouring elements of global memory.
fn wide(input: &Input<'_>, it: &For) -> Option<Wide> {
    let (Tag::Unroll(_), 1, None, None) = (it.tag, it.step, &it.clip, &it.going) else { return None };
    let (lower, upper) = (it.lower.as_const()?, it.upper.as_const()?);
    let (statement, all) = match it.body.as_slice() {
        [Node::Statement(statement)] => (statement, Cond::Const(true)),
        [Node::If { condition, then, otherwise }] if otherwise.is_empty() => match then.as_slice() {
            [Node::Statement(statement)] => (statement, everywhere(condition, it.variable, lower, upper)?),
            _ => return None,
        },
        _ => return None,
    };
    let id = statement.computation;
    let computation = input.algorithm.computation(id);
    let read = input.algorithm.copied_by(id).filter(|_| !input.layout.is_ahead(id))?;
    let space = |access: &Access| input.layout.buffer(input.buffer_of(access.array)).space;
    let (direction, outside) = match (space(&computation.write), space(read)) {
        (MemorySpace::Register, MemorySpace::Global) => (Direction::Load, read),
        (MemorySpace::Global, MemorySpace::Register) => (Direction::Store, &computation.write),
        _ => return None,
    };
    let iterators = values(statement);
    let (buffer, first) = place(input, outside, &iterators, it.variable)?;
    let element = i64::from(input.algorithm.array(outside.array).element.bytes());
    let (factors, rest) = first.linear(&|_| true)?;
    let (rest, 1) = (rest.as_const()?, *factors.get(&it.variable)?) else { return None };
    let mut lanes = VECTOR_BYTES / element;
    while factors.iter().any(|(&variable, factor)| variable != it.variable && factor % lanes != 0) {
        lanes /= 2;
    }
    let parts = vector_parts(lower, upper, rest, lanes);
    let most = parts.iter().map(|(_, count)| *count).max().filter(|&most| most > 1)?;
    let extents = &input.layout.buffer(buffer).extents;
    let columns = match extents.as_slice() {
        [] | [_] => Cond::Const(true),
        [column, ..] => {
            let over = IntExpr::Mod(Box::new(IntExpr::from_affine(column, &[])), most);
            Cond::compare(CompareOp::Eq, over, IntExpr::Const(0))
        }
    };
    Some(Wide { direction, computation: id, iterators, all, buffer, bytes: most * element, columns, parts })
}

/// Where a condition on a loop's variable holds for all of its values; `None` if its ends do not tell.
fn everywhere(condition: &Cond, variable: VariableId, lower: i64, upper: i64) -> Option<Cond> {
    let factor =
        |it: &IntExpr| it.linear(&|at| at == variable).map(|(factors, _)| factors.get(&variable).copied().unwrap_or(0));
    let at = |value: i64| condition.substitute(&|it| (it == variable).then_some(IntExpr::Const(value)));
    match condition {
        Cond::Const(_) => Some(condition.clone()),
        Cond::And(all) => {
            let each: Option<Vec<Cond>> = all.iter().map(|it| everywhere(it, variable, lower, upper)).collect();
            each.map(Cond::all_of)
        }
        Cond::Compare(op, a, b) => {
            let rises = factor(a)?.checked_sub(factor(b)?)?.signum();
            match (op, rises) {
                (_, 0) => Some(at(lower)),
                (CompareOp::Le | CompareOp::Lt, 1) | (CompareOp::Ge | CompareOp::Gt, -1) => Some(at(upper)),
                (CompareOp::Le | CompareOp::Lt, _) | (CompareOp::Ge | CompareOp::Gt, _) => Some(at(lower)),
                (CompareOp::Eq | CompareOp::Ne, _) => None,
            }
        }
        Cond::Or(_) => None,
    }
}

/// What the iterators of a statement are, with what it binds itself put in.
pub(crate) fn values(statement: &Statement) -> Vec<IntExpr> {
    let mut bound: BTreeMap<VariableId, IntExpr> = BTreeMap::new();
    for (variable, value) in &statement.bindings {
        let value = value.substitute(&|it| bound.get(&it).cloned());
        bound.insert(*variable, value);
    }
    let value = |it: VariableId| bound.get(&it).cloned().unwrap_or(IntExpr::Variable(it));
    statement.iterators.iter().map(|it| it.map_or(IntExpr::Const(0), value)).collect()
}

/// The buffer of an access, and where along its first axis the access lies; `None` if the loop moves along another one.
fn place(input: &Input<'_>, access: &Access, iterators: &[IntExpr], along: VariableId) -> Option<(BufferId, IntExpr)> {
    let placement = input.layout.placement(access.array);
    if !is_dense(input, access.array) {
        return None;
    }
    let subscripts = subscripts_of(access, iterators)?;
    let moves = |it: &IntExpr| it.involves(&|variable| variable == along);
    if subscripts[1..].iter().any(moves) {
        return None;
    }
    Some((placement.buffer, IntExpr::from_affine(placement.map.first()?, &subscripts)))
}
