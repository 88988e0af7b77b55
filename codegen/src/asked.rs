//! Conditions on data that a loop does not change: asked once before it.
//!
//! ```text
//! for i { for j { if (t % every == 0 && x[i, j] > 0) S } }   ->   if (t % every == 0) { for i { for j { if (x[i, j] > 0) S } } }
//! ```
//!
//! What moves are leading parts of the predicates of all statements in the loop, which depend on none of its variables and read only
//! what nothing in it writes: registers, and elements of memory at one place. A part that reads one, or that could stop the program (a division by what may be zero), moves past loops that are sure to reach it.

use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::program::{Asked, For, Node, Statement};
use crate::ranges::{statements_mut, values};
use std::collections::BTreeSet;
use std::convert::Infallible;
use tessella_polyhedral::algorithm::{Access, ArrayId, Computation};
use tessella_polyhedral::expr::{Expr, ExprKind, conjuncts};
use tessella_polyhedral::layers::MemorySpace;
use tessella_scalar::{BinaryOp, CompareOp};

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
    let shared =
        |part: &usize| around.stays(first, *part) && around.statements.iter().all(|it| around.same(first, it, *part));
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

    /// Whether the loop does not change this part of a statement's predicate.
    fn stays(&self, statement: &Statement, part: usize) -> bool {
        let Some(part) = self.parts(statement).get(part).copied() else { return false };
        let (computation, iterators) = (self.computation(statement), iterators_of(statement));
        let mut stays = true;
        part.walk(&mut |expr| match &expr.kind {
            ExprKind::Index(affine) => stays &= self.is_outer(&IntExpr::from_affine(affine, &iterators)),
            ExprKind::Read(at) => {
                let read = &computation.reads[*at as usize];
                let is_one_place = in_register(self.input, read)
                    || places(read, &iterators).is_some_and(|all| all.iter().all(|place| self.is_outer(place)));
                stays &= is_one_place && read.is_affine() && !self.written.contains(&read.array);
            }
            ExprKind::Let(_) => stays = false,
            _ => {}
        });
        stays
    }

    /// Whether this part, which stays, is the same in both statements' predicates.
    fn same(&self, one: &Statement, other: &Statement, part: usize) -> bool {
        let of =
            |statement| Some((self.computation(statement), iterators_of(statement), *self.parts(statement).get(part)?));
        match (of(one), of(other)) {
            (Some((a, own, one)), Some((b, its, other))) => alike(self.input, (a, &own, one), (b, &its, other)),
            (_, _) => false,
        }
    }
}

/// What a statement's iterators are in the variables of the loops.
fn iterators_of(statement: &Statement) -> Vec<IntExpr> {
    values(statement).into_iter().map(|value| value.unwrap_or(IntExpr::Const(0))).collect()
}

/// Whether what is read lies in registers, which hold one number each.
fn in_register(input: &Input<'_>, read: &Access) -> bool {
    input.layout.buffer(input.buffer_of(read.array)).space == MemorySpace::Register
}

/// The subscripts in the variables of the loops, where none is data.
fn places(read: &Access, iterators: &[IntExpr]) -> Option<Vec<IntExpr>> {
    read.subscripts.iter().map(|it| Some(IntExpr::from_affine(it.as_affine()?, iterators))).collect()
}

/// Whether two expressions are the same in the variables of the loops.
fn alike(
    input: &Input<'_>,
    (a, own, one): (&Computation, &[IntExpr], &Expr),
    (b, its, other): (&Computation, &[IntExpr], &Expr),
) -> bool {
    let same = match (&one.kind, &other.kind) {
        (ExprKind::Index(one), ExprKind::Index(other)) => {
            IntExpr::from_affine(one, own) == IntExpr::from_affine(other, its)
        }
        (ExprKind::Read(one), ExprKind::Read(other)) => {
            let (one, other) = (&a.reads[*one as usize], &b.reads[*other as usize]);
            one.array == other.array && (in_register(input, one) || places(one, own) == places(other, its))
        }
        (ExprKind::Constant(one), ExprKind::Constant(other)) => one == other,
        (ExprKind::Scalar(one), ExprKind::Scalar(other)) => one == other,
        (ExprKind::Unary(one, _), ExprKind::Unary(other, _)) => one == other,
        (ExprKind::Binary(one, ..), ExprKind::Binary(other, ..)) => one == other,
        (ExprKind::Compare(one, ..), ExprKind::Compare(other, ..)) => one == other,
        (ExprKind::Call(one, _), ExprKind::Call(other, _)) => one == other,
        (ExprKind::Select { .. }, ExprKind::Select { .. })
        | (ExprKind::IfElse { .. }, ExprKind::IfElse { .. })
        | (ExprKind::Convert(_), ExprKind::Convert(_))
        | (ExprKind::Wrap(_), ExprKind::Wrap(_)) => true,
        (_, _) => false,
    };
    let (left, right) = (one.operands(), other.operands());
    let mut pairs = left.iter().zip(&right);
    same && one.ty == other.ty
        && left.len() == right.len()
        && pairs.all(|(l, r)| alike(input, (a, own, l), (b, its, r)))
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
