//! Makes typed expressions, and looks at them. Each that is made stands in the source where its first operand does, unless a span is given.

use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{Expr, ExprKind};
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType, UnaryOp};

pub(crate) fn constant(constant: Constant, span: Span) -> Expr {
    Expr { kind: ExprKind::Constant(constant), ty: constant.ty, span }
}

/// A number of type `Int`.
pub(crate) fn integer(value: i64, span: Span) -> Expr {
    constant(Constant::i64(value), span)
}

pub(crate) fn float(value: f64, span: Span) -> Expr {
    constant(Constant::f64(value), span)
}

/// Arithmetic in the type of the left operand.
pub(crate) fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let (ty, span) = (left.ty, left.span);
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span }
}

pub(crate) fn compare(op: CompareOp, left: Expr, right: Expr) -> Expr {
    let span = left.span;
    Expr { kind: ExprKind::Compare(op, Box::new(left), Box::new(right)), ty: ScalarType::Bool, span }
}

/// `left && right`.
pub(crate) fn both(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::AndAlso, left, right)
}

/// `left || right`.
pub(crate) fn either(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::OrElse, left, right)
}

pub(crate) fn not(value: Expr) -> Expr {
    let span = value.span;
    Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(value)), ty: ScalarType::Bool, span }
}

/// `condition ? yes : no`, which stands where `yes` does.
pub(crate) fn select(condition: Expr, yes: Expr, no: Expr) -> Expr {
    let (ty, span) = (yes.ty, yes.span);
    Expr { kind: ExprKind::Select { condition: Box::new(condition), yes: Box::new(yes), no: Box::new(no) }, ty, span }
}

/// Whether evaluating the expression reads an array.
pub(crate) fn loads(expr: &Expr) -> bool {
    expr.any(&|it| matches!(it.kind, ExprKind::Load { .. }))
}

/// The operators, calls and loads of an expression.
pub(crate) fn operators(expr: &Expr) -> usize {
    usize::from(!expr.operands().is_empty()) + expr.operands().into_iter().map(operators).sum::<usize>()
}
