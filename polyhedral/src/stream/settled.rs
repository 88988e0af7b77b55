//! Comparisons that come out alike everywhere but at an edge of the domain, such as `i > 1` before a neighbour is taken.
//!
//! `up = i > 1 ? A[i-1, j] : A[i, j]` asks at each point what most of the domain knows: away from the first row it holds. Strips and rows
//! that lie there need not ask.

use super::{Stage, THIN, rounds};
use crate::affine::Affine;
use crate::algorithm::{Algorithm, Computation};
use crate::expr::{Expr, ExprKind};
use tessella_scalar::{BinaryOp, CompareOp, UnaryOp};

/// How a comparison comes out away from an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// The axis of space on whose edge it depends.
    pub axis: usize,
    /// Whether it holds away from there.
    pub holds: bool,
    pub away: Away,
}

/// The subscripts, of what a stage writes, that are away from an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Away {
    From(Affine),
    UpTo(Affine),
}

impl Settled {
    /// What is known of a comparison of a stage: nothing unless it compares one iterator of space with a subscript near the first or the
    /// last one that the stage writes. Elsewhere most of the domain would have to ask. Stages that are an edge themselves know nothing.
    pub fn of(stage: &Stage, expr: &Expr) -> Option<Settled> {
        let ExprKind::Compare(op, left, right) = &expr.kind else { return None };
        if stage.thin != [false; 3] {
            return None;
        }
        let apart = index(left)?.sub(&index(right)?).ok()?;
        let mut axes = (0..3).filter_map(|axis| {
            let iterator = stage.iterators[axis]?;
            apart.involves_iterator(iterator).then_some((axis, iterator))
        });
        let (Some((axis, iterator)), None) = (axes.next(), axes.next()) else { return None };
        let sign = apart.coefficient(iterator);
        let rest = apart.sub(&Affine::iterator(iterator).scale(sign).ok()?).ok()?;
        if !matches!(sign, 1 | -1) || rest.involves_any_iterator() {
            return None;
        }
        // `i op limit`.
        let limit = rest.scale(-sign).ok()?.add_constant(stage.shift[axis]).ok()?;
        let op = if sign == 1 { *op } else { op.mirrored() };
        let by = |away: fn(Affine) -> Away, more: i64| Some(away(limit.add_constant(more).ok()?));
        let (first, last) = &stage.limits[axis];
        let near = |one: &Affine, other: &Affine| {
            one.sub(other).ok()?.as_constant().map(i64::abs).filter(|distance| *distance <= THIN)
        };
        let begins = match (near(&limit, first), near(last, &limit)) {
            (Some(from_first), Some(to_last)) => from_first <= to_last,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => return None,
        };
        let (away, holds) = match (begins, op) {
            (true, CompareOp::Lt) => (by(Away::From, 0)?, false),
            (true, CompareOp::Le | CompareOp::Eq) => (by(Away::From, 1)?, false),
            (true, CompareOp::Gt | CompareOp::Ne) => (by(Away::From, 1)?, true),
            (true, CompareOp::Ge) => (by(Away::From, 0)?, true),
            (false, CompareOp::Lt | CompareOp::Ne) => (by(Away::UpTo, -1)?, true),
            (false, CompareOp::Le) => (by(Away::UpTo, 0)?, true),
            (false, CompareOp::Gt) => (by(Away::UpTo, 0)?, false),
            (false, CompareOp::Ge | CompareOp::Eq) => (by(Away::UpTo, -1)?, false),
        };
        Some(Settled { axis, holds, away })
    }

    /// Those of a stage, with what they are known of.
    pub fn all(algorithm: &Algorithm, stage: &Stage) -> Vec<(Expr, Settled)> {
        let mut found: Vec<(Expr, Settled)> = vec![];
        for expr in expressions(algorithm.computation(stage.computation)) {
            rounds::walk(stage, expr, &mut |expr| {
                if let Some(settled) = Settled::of(stage, expr)
                    && !found.iter().any(|(known, _)| known == expr)
                {
                    found.push((expr.clone(), settled));
                }
            });
        }
        found
    }
}

/// Whether a condition is known away from the edges.
pub fn is_known(stage: &Stage, condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Compare(..) => Settled::of(stage, condition).is_some(),
        ExprKind::Binary(BinaryOp::AndAlso | BinaryOp::OrElse | BinaryOp::BitAnd | BinaryOp::BitOr, left, right) => {
            is_known(stage, left) && is_known(stage, right)
        }
        ExprKind::Unary(UnaryOp::Not, operand) => is_known(stage, operand),
        _ => false,
    }
}

/// Those of a statement that streams: it has no predicate.
fn expressions(computation: &Computation) -> impl Iterator<Item = &Expr> {
    computation.lets.iter().map(|it| &it.value).chain([&computation.value])
}

fn index(expr: &Expr) -> Option<Affine> {
    match &expr.kind {
        ExprKind::Index(affine) => Some(affine.clone()),
        ExprKind::Constant(constant) if !expr.ty.is_float() => {
            constant.as_integer().and_then(|value| i64::try_from(value).ok()).map(Affine::constant)
        }
        _ => None,
    }
}
