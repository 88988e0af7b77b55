//! Conditions on sizes in commands: `n % 8 == 0 && size(A, 1) >= 32`.

use super::error::{CommandError, Expected};
use super::reader::Call;
use tessella_frontend::ast::{Argument, Broadcast, Expr, ExprKind, Section};
use tessella_polyhedral::condition::{Comparison, Condition, SizeExpr};
use tessella_scalar::CompareOp;

/// Comparisons of size expressions, joined by `&&` or chained.
///
/// # Errors
/// `E0483` for anything else.
pub(crate) fn condition(call: &Call<'_>, expr: &Expr) -> Result<Condition, CommandError> {
    let mut comparisons = vec![];
    collect(call, expr, &mut comparisons)?;
    Ok(Condition { comparisons })
}

fn collect(call: &Call<'_>, expr: &Expr, found: &mut Vec<Comparison>) -> Result<(), CommandError> {
    match &expr.kind {
        ExprKind::And(left, right) => {
            collect(call, left, found)?;
            collect(call, right, found)
        }
        ExprKind::Comparison { operands, operators } => {
            for (pair, operator) in operands.windows(2).zip(operators) {
                let op = match operator.value.symbol.as_str() {
                    "==" => CompareOp::Eq,
                    "!=" | "≠" => CompareOp::Ne,
                    "<" => CompareOp::Lt,
                    "<=" | "≤" => CompareOp::Le,
                    ">" => CompareOp::Gt,
                    ">=" | "≥" => CompareOp::Ge,
                    _ => return Err(call.wrong(Expected::Condition, expr)),
                };
                found.push(Comparison { left: size(call, &pair[0])?, op, right: size(call, &pair[1])? });
            }
            Ok(())
        }
        _ => Err(call.wrong(Expected::Condition, expr)),
    }
}

fn size(call: &Call<'_>, expr: &Expr) -> Result<SizeExpr, CommandError> {
    let pair = |left: &Expr, right: &Expr| Ok((Box::new(size(call, left)?), Box::new(size(call, right)?)));
    match &expr.kind {
        ExprKind::Name(name) => Ok(SizeExpr::Name(name.clone())),
        ExprKind::Infix { operator, left, right } if !operator.value.dotted => match operator.value.symbol.as_str() {
            "+" => pair(left, right).map(|(left, right)| SizeExpr::Sum(left, right)),
            "-" => pair(left, right).map(|(left, right)| SizeExpr::Difference(left, right)),
            "*" => pair(left, right).map(|(left, right)| SizeExpr::Product(left, right)),
            "%" => Ok(SizeExpr::Remainder(Box::new(size(call, left)?), call.size(right)?)),
            _ => Err(call.wrong(Expected::Condition, expr)),
        },
        ExprKind::Juxtapose { coefficient, operand } => {
            pair(coefficient, operand).map(|(left, right)| SizeExpr::Product(left, right))
        }
        ExprKind::Call { callee, arguments, broadcast: Broadcast::No } => {
            let plain = |it: &Argument| it.keyword.is_none() && it.section == Section::Main;
            match (&callee.kind, arguments.as_slice()) {
                (ExprKind::Name(name), [value, divisor]) if name == "mod" && plain(value) && plain(divisor) => {
                    Ok(SizeExpr::Remainder(Box::new(size(call, &value.value)?), call.size(&divisor.value)?))
                }
                (ExprKind::Name(name), [array, axis]) if name == "size" && plain(array) && plain(axis) => {
                    Ok(SizeExpr::Extent { array: call.array(&array.value)?, axis: call.size(&axis.value)? })
                }
                (ExprKind::Name(name), [array]) if name == "length" && plain(array) => {
                    Ok(SizeExpr::Extent { array: call.array(&array.value)?, axis: 1 })
                }
                _ => Err(call.wrong(Expected::Condition, expr)),
            }
        }
        ExprKind::Integer(_) | ExprKind::Prefix { .. } => call.integer(expr).map(SizeExpr::Number),
        _ => Err(call.wrong(Expected::Condition, expr)),
    }
}
