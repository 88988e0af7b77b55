//! Makes expressions of the core.

use crate::formula::Formula;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType, UnaryOp};

/// `value` truncated to an integer type where it fits, else zero: in C the conversion of another float means nothing.
pub(crate) fn truncated(value: Expr, ty: ScalarType) -> Expr {
    let (least, most) = ty.integer_limits();
    let bound = |op, limit: i128| {
        let limit = Box::new(constant(Constant::integer(value.ty, limit)));
        Expr { kind: ExprKind::Compare(op, Box::new(value.clone()), limit), ty: ScalarType::Bool }
    };
    let fits = both(bound(CompareOp::Ge, least), bound(CompareOp::Lt, most + 1));
    let (condition, no) = (Box::new(fits), Box::new(constant(zero(ty))));
    let yes = Box::new(Expr { kind: ExprKind::Wrap(Box::new(value)), ty });
    Expr { kind: ExprKind::Select { condition, yes, no }, ty }
}

pub(crate) fn zero(ty: ScalarType) -> Constant {
    Constant { ty, bits: 0 }
}

pub(crate) fn constant(value: Constant) -> Expr {
    Expr { kind: ExprKind::Constant(value), ty: value.ty }
}

pub(crate) fn index(value: Affine) -> Expr {
    match value.as_constant() {
        Some(value) => constant(Constant::i64(value)),
        None => Expr { kind: ExprKind::Index(value), ty: ScalarType::I64 },
    }
}

pub(crate) fn both(left: Expr, right: Expr) -> Expr {
    let kind = ExprKind::Binary(BinaryOp::AndAlso, Box::new(left), Box::new(right));
    Expr { kind, ty: ScalarType::Bool }
}

pub(crate) fn either(left: Expr, right: Expr) -> Expr {
    let kind = ExprKind::Binary(BinaryOp::OrElse, Box::new(left), Box::new(right));
    Expr { kind, ty: ScalarType::Bool }
}

pub(crate) fn not(value: Expr) -> Expr {
    Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(value)), ty: ScalarType::Bool }
}

/// An affine condition as an expression.
pub(crate) fn condition(formula: &Formula) -> Expr {
    let compare = |op, value: &Affine| {
        let kind = ExprKind::Compare(op, Box::new(index(value.clone())), Box::new(constant(Constant::i64(0))));
        Expr { kind, ty: ScalarType::Bool }
    };
    match formula {
        Formula::True => constant(Constant::bool(true)),
        Formula::False => constant(Constant::bool(false)),
        Formula::NonNegative(value) => compare(CompareOp::Ge, value),
        Formula::Zero(value) => compare(CompareOp::Eq, value),
        Formula::All(parts) => parts.iter().map(condition).reduce(both).unwrap_or(constant(Constant::bool(true))),
        Formula::Any(parts) => parts.iter().map(condition).reduce(either).unwrap_or(constant(Constant::bool(false))),
    }
}
