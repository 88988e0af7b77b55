//! Stages that add up: what each row gives to them is added as soon as it is there.
//!
//! Rewrite, for a box of three rows: with `P` the part of a row's value that the rows before the latest one gave,
//! `B[y] = T0(A[y + 1]) + T1(A[y]) + T2(A[y - 1])`  ->  `B[y] = P0 + T0(a); P0 = P1 + T1(a); P1 = T2(a)`, where `a` is `A[y + 1]`.
//! Each row's neighbours are fetched once instead of once for each row that is computed of it, and rows need not be kept. Under
//! `@fastmath` terms may come in another order; else the source has to add them in this one.

use super::{Source, Stage, Stream, rounds};
use crate::algorithm::{Algorithm, Computation};
use crate::expr::{Expr, ExprKind};
use std::collections::BTreeMap;
use tessella_scalar::{BinaryOp, UnaryOp};

/// The terms of a stage's value.
#[derive(Debug, Clone, PartialEq)]
pub struct Sums {
    /// The field whose rows give, and whether it is its version of this time step.
    pub field: usize,
    pub fresh: bool,
    /// How many iterations ago the row was computed that gives.
    pub age: i64,
    /// How many iterations later the last value is done to which it gives.
    pub longest: i64,
    pub terms: Vec<Term>,
}

/// A product, which is added or taken away.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    pub negative: bool,
    pub factors: Vec<Expr>,
    /// The read of the field, by its position; `None` where the factors are all there is.
    pub read: Option<u32>,
    /// How many iterations after its row gave it the value is done.
    pub later: i64,
}

/// How a stage adds up, if it may and if that saves fetching neighbours.
pub(super) fn of_stage(algorithm: &Algorithm, stream: &Stream, stage: usize) -> Option<Sums> {
    let stage = &stream.stages[stage];
    if stage.thin != [false; 3] {
        return None;
    }
    let computation = algorithm.computation(stage.computation);
    let whole = &computation.value;
    let element = algorithm.array(stream.fields[stage.field].array).element;
    if !whole.ty.is_float() || whole.ty != element || !computation.lets.is_empty() {
        return None;
    }
    // The rows of each version, and whether they are read beside their own column.
    let mut versions: BTreeMap<(usize, bool), BTreeMap<i64, bool>> = BTreeMap::new();
    for read in &stage.reads {
        let Source::Field { field, fresh, offset, age } = read else { return None };
        *versions.entry((*field, *fresh)).or_default().entry(*age).or_default() |= offset[0] != 0;
    }
    let fetched = |rows: &BTreeMap<i64, bool>| rows.values().filter(|beside| **beside).count();
    let ((field, fresh), rows) = versions.into_iter().max_by_key(|(_, rows)| fetched(rows))?;
    if fetched(&rows) < 2 {
        return None;
    }
    let age = *rows.keys().next()?;
    let gives = |read: u32| match stage.reads[read as usize] {
        Source::Field { field: of, fresh: when, age: then, .. } if (of, when) == (field, fresh) => Some(then - age),
        Source::Field { .. } | Source::Memory | Source::Unused => None,
    };
    let mut terms = vec![];
    match computation.fastmath {
        true => collect((computation, stage), whole, &Product::default(), &gives, &mut terms)?,
        false => in_order((computation, stage), whole, &gives, &mut terms)?,
    }
    let longest = terms.iter().map(|term| term.later).max()?;
    Some(Sums { field, fresh, age, longest, terms })
}

/// The terms of a sum that is added up from the left, if the rows give theirs in that order: so nothing is rounded otherwise.
fn in_order(
    of: (&Computation, &Stage),
    expr: &Expr,
    gives: &dyn Fn(u32) -> Option<i64>,
    into: &mut Vec<Term>,
) -> Option<()> {
    let (mut last, mut negative) = (expr, false);
    if let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), before, right) = &expr.kind {
        in_order(of, before, gives, into)?;
        (last, negative) = (right, *op == BinaryOp::Sub);
    }
    let earlier = into.len();
    collect(of, last, &Product { negative, factors: vec![] }, gives, into)?;
    let is_single = into.len() == earlier + 1 && into[earlier].factors.len() <= 1 && into[earlier].negative == negative;
    (is_single && into.is_sorted_by(|one, next| one.later >= next.later)).then_some(())
}

/// What an expression is multiplied by.
#[derive(Default, Clone)]
struct Product {
    negative: bool,
    factors: Vec<Expr>,
}

/// The terms of an expression; `None` if it is no sum of products.
fn collect(
    of: (&Computation, &Stage),
    expr: &Expr,
    by: &Product,
    gives: &dyn Fn(u32) -> Option<i64>,
    into: &mut Vec<Term>,
) -> Option<()> {
    let (computation, stage) = of;
    let Product { negative, factors } = by.clone();
    let read = rounds::chosen(stage, expr);
    if let Some((read, later)) = read.and_then(|read| Some((read, gives(read)?))) {
        into.push(Term { negative, factors, read: Some(read), later });
        return Some(());
    }
    match &expr.kind {
        _ if !gives_anything(expr, gives) => {
            let factors = factors.into_iter().chain([expr.clone()]).collect();
            into.push(Term { negative, factors, read: None, later: 0 });
            Some(())
        }
        ExprKind::Unary(UnaryOp::Neg, operand) => {
            collect(of, operand, &Product { negative: !negative, factors }, gives, into)
        }
        ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) => {
            collect(of, left, by, gives, into)?;
            let negative = negative ^ (*op == BinaryOp::Sub);
            collect(of, right, &Product { negative, factors }, gives, into)
        }
        ExprKind::Binary(BinaryOp::Mul, left, right) => {
            let (factor, other) = match (is_fixed(computation, left), is_fixed(computation, right)) {
                (true, _) => (left, right),
                (false, true) => (right, left),
                (false, false) => return None,
            };
            let factors = factors.into_iter().chain([(**factor).clone()]).collect();
            collect(of, other, &Product { negative, factors }, gives, into)
        }
        ExprKind::Constant(_)
        | ExprKind::Index(_)
        | ExprKind::Scalar(_)
        | ExprKind::Let(_)
        | ExprKind::Read(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Compare(..)
        | ExprKind::Call(..)
        | ExprKind::Select { .. }
        | ExprKind::IfElse { .. }
        | ExprKind::Convert(_)
        | ExprKind::Wrap(_) => None,
    }
}

fn gives_anything(expr: &Expr, gives: &dyn Fn(u32) -> Option<i64>) -> bool {
    let mut any = false;
    expr.walk(&mut |expr| any |= matches!(expr.kind, ExprKind::Read(read) if gives(read).is_some()));
    any
}

/// Whether it is the same at all points and time steps.
fn is_fixed(computation: &Computation, expr: &Expr) -> bool {
    let mut fixed = true;
    expr.walk(&mut |expr| {
        fixed &= match &expr.kind {
            ExprKind::Read(_) | ExprKind::Let(_) => false,
            ExprKind::Index(affine) => {
                !(0..computation.iterators.len() as u32).any(|iterator| affine.involves_iterator(iterator))
            }
            ExprKind::Constant(_)
            | ExprKind::Scalar(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::Call(..)
            | ExprKind::Select { .. }
            | ExprKind::IfElse { .. }
            | ExprKind::Convert(_)
            | ExprKind::Wrap(_) => true,
        }
    });
    fixed
}
