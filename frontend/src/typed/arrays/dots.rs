//! `@. expression`: a dot on every call, operator and assignment.

use crate::ast::{Argument, Broadcast, Expr, ExprKind, Operator};
use tessella_diagnostics::Spanned;

/// What `@.` makes of an expression.
pub(in crate::typed) fn dotted(expr: &Expr) -> Expr {
    let inner = |expr: &Expr| Box::new(dotted(expr));
    let all = |exprs: &[Expr]| exprs.iter().map(dotted).collect::<Vec<Expr>>();
    let kind = match &expr.kind {
        ExprKind::Call { callee, arguments, .. } => {
            ExprKind::Call { callee: callee.clone(), arguments: arguments_of(arguments), broadcast: Broadcast::Yes }
        }
        ExprKind::Prefix { operator, operand } => match (operator.value.symbol.as_str(), &operand.kind) {
            // A negative number is a literal.
            ("-", ExprKind::Integer(_) | ExprKind::Float(_)) => expr.kind.clone(),
            _ => ExprKind::Prefix { operator: with_dot(operator), operand: inner(operand) },
        },
        ExprKind::Infix { operator, left, right } => {
            ExprKind::Infix { operator: with_dot(operator), left: inner(left), right: inner(right) }
        }
        ExprKind::Juxtapose { coefficient, operand } => ExprKind::Infix {
            operator: Spanned { value: Operator { symbol: "*".into(), dotted: true }, span: expr.span },
            left: inner(coefficient),
            right: inner(operand),
        },
        ExprKind::Comparison { operands, operators } => {
            ExprKind::Comparison { operands: all(operands), operators: operators.iter().map(with_dot).collect() }
        }
        ExprKind::And(left, right) => ExprKind::And(inner(left), inner(right)),
        ExprKind::Or(left, right) => ExprKind::Or(inner(left), inner(right)),
        ExprKind::Ternary { condition, yes, no } => {
            ExprKind::Ternary { condition: inner(condition), yes: inner(yes), no: inner(no) }
        }
        ExprKind::Index { base, subscripts } => {
            ExprKind::Index { base: inner(base), subscripts: arguments_of(subscripts) }
        }
        ExprKind::Adjoint(operand) => ExprKind::Adjoint(inner(operand)),
        ExprKind::Block(body) => ExprKind::Block(all(body)),
        ExprKind::Tuple(elements) => ExprKind::Tuple(arguments_of(elements)),
        ExprKind::Assign { operator, target, value, .. } => ExprKind::Assign {
            operator: operator.as_ref().map(with_dot),
            broadcast: Broadcast::Yes,
            target: target.clone(),
            value: inner(value),
        },
        // Nothing to put a dot on, or nothing that can be one of many.
        other => other.clone(),
    };
    Expr { kind, span: expr.span }
}

fn arguments_of(arguments: &[Argument]) -> Vec<Argument> {
    arguments.iter().map(|argument| Argument { value: dotted(&argument.value), ..argument.clone() }).collect()
}

fn with_dot(operator: &Spanned<Operator>) -> Spanned<Operator> {
    Spanned { value: Operator { dotted: true, ..operator.value.clone() }, span: operator.span }
}
