//! Constants of the file: evaluated where they are used.

use super::check::{Checked, Checker};
use super::convert::widen;
use super::error::TypeError;
use super::tree::{Expr, ExprKind};
use super::value::Value;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, Constant, ScalarType, UnaryOp};

impl Checker<'_> {
    /// The value of the file's `const name`, if there is one.
    pub(super) fn module_constant(&mut self, name: &str, span: Span) -> Option<Checked<Value>> {
        if self.is_librarys(name) {
            return None;
        }
        let name = super::full_name::own(name);
        let definition = self.constants.iter().find(|constant| constant.name == name)?;
        if super::constant_array::makes_array(&definition.value, self.constants) {
            return Some(self.constant_array(name, &definition.value, span));
        }
        if self.open_constants.iter().any(|open| open == name) {
            return Some(Err(self.fail(TypeError::ConstantCycle { name: name.into(), span })));
        }
        // A definition sees the file's names only.
        let scopes = std::mem::replace(&mut self.scopes, vec![Default::default()]);
        let parameters = std::mem::take(&mut self.type_parameters);
        self.open_constants.push(name.to_string());
        let (block, value) = self.in_block(|checker| checker.conditionally(|checker| checker.value(&definition.value)));
        self.open_constants.pop();
        self.type_parameters = parameters;
        self.scopes = scopes;
        if !block.is_empty() && value.is_ok() {
            return Some(self.not_yet(super::unsupported::Construct::BlockValue, span));
        }
        Some(value.map(|value| match value {
            Value::Scalar(expr) => Value::Scalar(folded(expr).placed(span)),
            Value::Irrational(value, _) => Value::Irrational(value, span),
            other => other,
        }))
    }
}

/// The expression with integer arithmetic on constants carried out, as far as it goes.
pub(super) fn folded(mut expr: Expr) -> Expr {
    for operand in expr.operands_mut() {
        let inner = std::mem::replace(operand, Expr::int64(0, operand.span));
        *operand = folded(inner);
    }
    let span = expr.span;
    let integer = |operand: &Expr| operand.as_constant().and_then(Constant::as_integer);
    let value = match &expr.kind {
        ExprKind::Unary(UnaryOp::Neg, operand) => integer(operand).map(|value| -value),
        ExprKind::Binary(operator, left, right) => match (integer(left), integer(right)) {
            (Some(left), Some(right)) => integer_result(*operator, left, right),
            (_, _) => None,
        },
        ExprKind::Convert(operand) if operand.as_constant().is_some() => {
            let inner = (**operand).clone();
            return widen(inner, expr.ty).placed(span);
        }
        _ => None,
    };
    match value {
        Some(value) if expr.ty.is_integer() => Expr::number(expr.ty, value, span),
        Some(_) | None => float_negation(expr),
    }
}

/// `-0.5` is a constant, too.
fn float_negation(expr: Expr) -> Expr {
    let ExprKind::Unary(UnaryOp::Neg, operand) = &expr.kind else { return expr };
    match operand.as_constant() {
        Some(constant) if constant.ty == ScalarType::F64 => {
            Expr::constant(Constant::f64(-f64::from_bits(constant.bits)), expr.span)
        }
        Some(constant) if constant.ty == ScalarType::F32 => {
            Expr::constant(Constant::f32(-f32::from_bits(constant.bits as u32)), expr.span)
        }
        Some(_) | None => expr,
    }
}

/// The exact result, before it is wrapped to its type; `None` for operators that are not folded.
fn integer_result(operator: BinaryOp, left: i128, right: i128) -> Option<i128> {
    match operator {
        BinaryOp::Add => Some(left + right),
        BinaryOp::Sub => Some(left - right),
        BinaryOp::Mul => Some(left.wrapping_mul(right)),
        BinaryOp::DivTrunc => left.checked_div(right),
        BinaryOp::Rem => left.checked_rem(right),
        BinaryOp::Min => Some(left.min(right)),
        BinaryOp::Max => Some(left.max(right)),
        BinaryOp::Div
        | BinaryOp::DivFloor
        | BinaryOp::DivCeil
        | BinaryOp::Mod
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight
        | BinaryOp::ShiftRightLogical
        | BinaryOp::AndAlso
        | BinaryOp::OrElse => None,
    }
}
