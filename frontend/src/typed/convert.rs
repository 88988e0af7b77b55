//! Promotion and conversion of scalars, by Julia's rules.

use super::check::{Checked, Checker};
use super::error::TypeError;
use super::tree::{Expr, ExprKind};
use tessella_diagnostics::Span;
use tessella_scalar::{Constant, ScalarType};

/// Julia's `promote_type`.
pub fn promote(a: ScalarType, b: ScalarType) -> ScalarType {
    if a == b || b == ScalarType::Bool {
        return a;
    }
    if a == ScalarType::Bool {
        return b;
    }
    match (a.is_float(), b.is_float()) {
        (true, true) => ScalarType::F64,
        (true, false) => a,
        (false, true) => b,
        // The wider one; of one width, the unsigned one.
        (false, false) if a.bytes() != b.bytes() => {
            if a.bytes() > b.bytes() {
                a
            } else {
                b
            }
        }
        (false, false) => unsigned(a),
    }
}

/// Whether `convert(to, x)` cannot throw for any `x` of type `from`.
pub(super) fn is_total(from: ScalarType, to: ScalarType) -> bool {
    if from == to || from == ScalarType::Bool || to.is_float() {
        return true;
    }
    if from.is_float() || to == ScalarType::Bool {
        return false;
    }
    match (from.is_signed_integer(), to.is_signed_integer()) {
        (true, true) | (false, false) => to.bytes() >= from.bytes(),
        (false, true) => to.bytes() > from.bytes(),
        (true, false) => false,
    }
}

/// The unsigned integer type of the same width; floats and `Bool` stay.
pub(super) fn unsigned(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::I8 | ScalarType::U8 => ScalarType::U8,
        ScalarType::I16 | ScalarType::U16 => ScalarType::U16,
        ScalarType::I32 | ScalarType::U32 => ScalarType::U32,
        ScalarType::I64 | ScalarType::U64 => ScalarType::U64,
        ScalarType::Bool | ScalarType::F32 | ScalarType::F64 => ty,
    }
}

/// The signed integer type of the same width; floats and `Bool` stay.
pub(super) fn signed(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::I8 | ScalarType::U8 => ScalarType::I8,
        ScalarType::I16 | ScalarType::U16 => ScalarType::I16,
        ScalarType::I32 | ScalarType::U32 => ScalarType::I32,
        ScalarType::I64 | ScalarType::U64 => ScalarType::I64,
        ScalarType::Bool | ScalarType::F32 | ScalarType::F64 => ty,
    }
}

/// Julia's `float(T)`.
pub(super) fn float_of(ty: ScalarType) -> ScalarType {
    if ty == ScalarType::F32 { ScalarType::F32 } else { ScalarType::F64 }
}

/// Smallest and largest value of an integer type or `Bool`.
pub(super) fn integer_limits(ty: ScalarType) -> (i128, i128) {
    match ty {
        ScalarType::Bool => (0, 1),
        ScalarType::I8 => (i8::MIN.into(), i8::MAX.into()),
        ScalarType::I16 => (i16::MIN.into(), i16::MAX.into()),
        ScalarType::I32 => (i32::MIN.into(), i32::MAX.into()),
        ScalarType::I64 => (i64::MIN.into(), i64::MAX.into()),
        ScalarType::U8 => (0, u8::MAX.into()),
        ScalarType::U16 => (0, u16::MAX.into()),
        ScalarType::U32 => (0, u32::MAX.into()),
        ScalarType::U64 => (0, u64::MAX.into()),
        ScalarType::F32 | ScalarType::F64 => (0, 0),
    }
}

/// `convert(to, constant)`, or `None` where Julia throws.
pub(super) fn convert_constant(constant: Constant, to: ScalarType) -> Option<Constant> {
    match (constant.as_integer(), constant.as_float(), to) {
        (Some(value), _, to) if !to.is_float() => {
            let (least, most) = integer_limits(to);
            (least..=most).contains(&value).then(|| Constant::integer(to, value))
        }
        (Some(value), _, to) => Some(Constant::integer(to, value)),
        (None, Some(value), ScalarType::F64) => Some(Constant::f64(value)),
        (None, Some(value), ScalarType::F32) => Some(Constant::f32(value as f32)),
        (None, Some(value), to) => {
            let (least, most) = integer_limits(to);
            let inside = value.fract() == 0.0 && value.abs() < 1e30;
            (inside && (least..=most).contains(&(value as i128))).then(|| Constant::integer(to, value as i128))
        }
        (None, None, _) => None,
    }
}

/// `x % to` of an integer, `to(x)` where that cannot throw: the conversion that arithmetic applies to its operands.
pub(super) fn widen(expr: Expr, to: ScalarType) -> Expr {
    if expr.ty == to {
        return expr;
    }
    let span = expr.span;
    match expr.as_constant() {
        Some(constant) if !constant.ty.is_float() => {
            let value = constant.as_integer().expect("constants other than floats are integers");
            Expr::number(to, value, span)
        }
        Some(constant) if to.is_float() => {
            Expr::constant(convert_constant(constant, to).expect("floats convert to floats"), span)
        }
        _ if is_total(expr.ty, to) => Expr { ty: to, span, kind: ExprKind::Convert(Box::new(expr)) },
        _ => Expr { ty: to, span, kind: ExprKind::Wrap(Box::new(expr)) },
    }
}

/// The value of an expression that is an integer constant of any type.
pub(super) fn constant_integer(expr: &Expr) -> Option<i128> {
    expr.as_constant().and_then(Constant::as_integer)
}

impl Checker<'_> {
    /// `convert(to, expr)`: refused if it may throw. `target` is what demands the type.
    pub(super) fn coerce(&mut self, expr: Expr, to: ScalarType, target: Option<Span>) -> Checked<Expr> {
        if expr.ty == to {
            return Ok(expr);
        }
        let span = expr.span;
        if let Some(constant) = expr.as_constant() {
            return match convert_constant(constant, to) {
                Some(converted) => Ok(Expr::constant(converted, span)),
                None => Err(self.fail(TypeError::InexactConstant { value: constant.to_string(), to, span })),
            };
        }
        if is_total(expr.ty, to) {
            return Ok(widen(expr, to));
        }
        Err(self.fail(TypeError::Inexact { from: expr.ty, to, span, target }))
    }

    /// Both operands in their promoted type, as `promote` would have them; refused if that may throw.
    pub(super) fn promoted(&mut self, left: Expr, right: Expr) -> Checked<(Expr, Expr)> {
        let ty = promote(left.ty, right.ty);
        let left = self.coerce(left, ty, None);
        let right = self.coerce(right, ty, None);
        Ok((left?, right?))
    }
}
