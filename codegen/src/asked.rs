//! Conditions on data that a loop does not change: asked once before it.
//!
//! ```text
//! for i { for j { if (t % every == 0 && x[i, j] > 0) S } }   ->   if (t % every == 0) { for i { for j { if (x[i, j] > 0) S } } }
//! ```
//!
//! What moves are leading parts of the predicates of all statements in the loop, which depend on none of its variables and read only
//! registers that nothing in it writes. A part that reads one, or that could stop the program (a division by what may be zero), moves past loops that are sure to reach it.

use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::program::{Asked, For, Node, Statement};
use crate::ranges::{statements_mut, values};
use std::collections::BTreeSet;
use std::convert::Infallible;
use tessella_polyhedral::algorithm::{ArrayId, Computation, Subscript};
use tessella_polyhedral::expr::{Expr, ExprKind, conjuncts};
use tessella_polyhedral::layers::MemorySpace;
use tessella_scalar::{BinaryOp, CompareOp, ScalarType};

/// Moves conditions before the outermost loops that do not change them.
pub fn ask_before(input: &Input<'_>, nodes: Vec<Node>) -> Vec<Node> {
    nodes.into_iter().map(|node| in_node(input, node)).collect()
}

fn in_node(input: &Input<'_>, node: Node) -> Node {
    let node = match node {
        Node::For(mut it) => {
            it.asked = take_out(input, &mut it).map(Box::new);
            Node::For(it)
        }
        other => other,
    };
    let Ok(node) = node.map_blocks::<Infallible>(|block| Ok(ask_before(input, block)));
    node
}

/// The leading parts that all statements of the loop have in common; they are known inside from then on.
fn take_out(input: &Input<'_>, it: &mut For) -> Option<Asked> {
    if it.clip.is_some() || it.going.is_some() {
        return None;
    }
    let around = Around::of(input, it)?;
    let first = around.statements.first()?;
    let known = first.known as usize;
    let shared = |part: &usize| {
        let described = around.describe(first, *part);
        described.is_some() && around.statements.iter().all(|other| around.describe(other, *part) == described)
    };
    let count = (known..around.parts(first).len()).take_while(shared).count();
    let parts: Vec<Expr> = around.parts(first)[known..known + count].iter().map(|part| (*part).clone()).collect();
    if parts.is_empty() || around.statements.iter().any(|other| other.known as usize != known) {
        return None;
    }
    let runs = match parts.iter().any(needs_instance) {
        true => reached(&it.body, vec![at_least_once(it)], &around.bound)?,
        false => vec![],
    };
    let computation = first.computation;
    let outer = |value: &IntExpr| around.is_outer(value);
    let iterators = values(first).into_iter().map(|value| value.filter(outer)).collect();
    let asked = Asked { computation, iterators, parts, runs };
    let after = (known + count) as u32;
    it.body.iter_mut().for_each(|node| statements_mut(node, &mut |statement| statement.known = after));
    Some(asked)
}

/// What a loop does.
struct Around<'a> {
    input: &'a Input<'a>,
    statements: Vec<Statement>,
    /// Its variable and those bound inside.
    bound: BTreeSet<VariableId>,
    written: BTreeSet<ArrayId>,
}

impl<'a> Around<'a> {
    /// `None` where the loop holds more than loops, conditions and statements.
    fn of(input: &'a Input<'a>, it: &For) -> Option<Self> {
        let mut around =
            Self { input, statements: vec![], bound: BTreeSet::from([it.variable]), written: BTreeSet::new() };
        let mut plain = true;
        for node in &it.body {
            node.walk(&mut |node| match node {
                Node::Statement(statement) => around.statements.push(statement.clone()),
                Node::For(_) | Node::If { .. } | Node::Let { .. } => around.bound.extend(node.bound()),
                _ => plain = false,
            });
        }
        around.written = around.statements.iter().map(|it| around.computation(it).write.array).collect();
        plain.then_some(around)
    }

    fn computation(&self, statement: &Statement) -> &'a Computation {
        self.input.algorithm.computation(statement.computation)
    }

    fn parts(&self, statement: &Statement) -> Vec<&'a Expr> {
        self.computation(statement).predicate.as_ref().map(conjuncts).unwrap_or_default()
    }

    fn is_outer(&self, value: &IntExpr) -> bool {
        !value.involves(&|variable| self.bound.contains(&variable))
    }

    /// A part of a statement's predicate in words that are the same for the same value; `None` if the loop may change it.
    fn describe(&self, statement: &Statement, part: usize) -> Option<String> {
        let part = *self.parts(statement).get(part)?;
        let iterators: Vec<IntExpr> =
            values(statement).into_iter().map(|value| value.unwrap_or(IntExpr::Const(0))).collect();
        let computation = self.computation(statement);
        let (mut words, mut constant) = (String::new(), true);
        part.walk(&mut |expr| {
            words += &match &expr.kind {
                ExprKind::Index(affine) => {
                    let value = IntExpr::from_affine(affine, &iterators);
                    constant &= self.is_outer(&value);
                    format!("{value:?};")
                }
                ExprKind::Read(at) => {
                    let read = &computation.reads[*at as usize];
                    let buffer = self.input.layout.buffer(self.input.buffer_of(read.array));
                    constant &= buffer.space == MemorySpace::Register && !self.written.contains(&read.array);
                    constant &= read.subscripts.iter().all(|it| matches!(it, Subscript::Affine(_)));
                    format!("{:?};", read.array)
                }
                ExprKind::Let(_) => {
                    constant = false;
                    String::new()
                }
                other => word(other, expr.ty),
            }
        });
        constant.then_some(words)
    }
}

/// What an expression does with its operands, of which it tells the number.
fn word(kind: &ExprKind, ty: ScalarType) -> String {
    match kind {
        ExprKind::Constant(constant) => format!("{constant:?};"),
        ExprKind::Scalar(scalar) => format!("{scalar:?};"),
        ExprKind::Unary(op, _) => format!("{op:?} {ty:?};"),
        ExprKind::Binary(op, ..) => format!("{op:?} {ty:?};"),
        ExprKind::Compare(op, ..) => format!("{op:?};"),
        ExprKind::Call(function, operands) => format!("{function:?} {} {ty:?};", operands.len()),
        ExprKind::Select { .. } => "select;".to_owned(),
        ExprKind::IfElse { .. } => "if else;".to_owned(),
        ExprKind::Convert(_) => format!("convert {ty:?};"),
        ExprKind::Wrap(_) => format!("wrap {ty:?};"),
        ExprKind::Index(_) | ExprKind::Let(_) | ExprKind::Read(_) => String::new(),
    }
}

/// Whether it is only evaluated where an instance is reached: registers hold something then, and a division of integers does not stop the program.
fn needs_instance(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |expr| match &expr.kind {
        ExprKind::Binary(
            BinaryOp::DivTrunc | BinaryOp::DivFloor | BinaryOp::DivCeil | BinaryOp::Rem | BinaryOp::Mod,
            _,
            divisor,
        ) => found |= divisor.ty.is_integer() && !matches!(divisor.kind, ExprKind::Constant(_)),
        ExprKind::Read(_) => found = true,
        _ => {}
    });
    found
}

/// When a loop has an iteration.
fn at_least_once(it: &For) -> Cond {
    Cond::compare(CompareOp::Le, it.lower.clone(), it.upper.clone())
}

/// The conditions under which some statement of these nodes runs, besides those that hold; `None` if they cannot be told outside of the variables.
fn reached(nodes: &[Node], mut runs: Vec<Cond>, bound: &BTreeSet<VariableId>) -> Option<Vec<Cond>> {
    let is_known = |cond: &Cond| {
        let mut known = true;
        cond.walk(&mut |part| known &= !matches!(part, IntExpr::Variable(variable) if bound.contains(variable)));
        known
    };
    if !runs.iter().all(is_known) {
        return None;
    }
    nodes.iter().find_map(|node| match node {
        Node::Statement(_) => Some(runs.clone()),
        Node::For(it) if it.clip.is_none() && it.going.is_none() => {
            runs.push(at_least_once(it));
            let found = reached(&it.body, runs.clone(), bound);
            runs.pop();
            found
        }
        _ => None,
    })
}
