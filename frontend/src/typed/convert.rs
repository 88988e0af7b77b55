//! Promotion and conversion of scalars, by Julia's rules.

use super::check::{Checked, Checker};
use super::compare::compare;
use super::error::TypeError;
use super::operator::{binary, intrinsic};
use super::tree::{Expr, ExprKind, SizeError};
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Constant, Intrinsic, ScalarType};

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

/// `convert(to, constant)`, or `None` where Julia throws.
pub(super) fn convert_constant(constant: Constant, to: ScalarType) -> Option<Constant> {
    match (constant.as_integer(), constant.as_float(), to) {
        (Some(value), _, to) if !to.is_float() => {
            let (least, most) = to.integer_limits();
            (least..=most).contains(&value).then(|| Constant::integer(to, value))
        }
        (Some(value), _, to) => Some(Constant::integer(to, value)),
        (None, Some(value), ScalarType::F64) => Some(Constant::f64(value)),
        (None, Some(value), ScalarType::F32) => Some(Constant::f32(value as f32)),
        (None, Some(value), to) => {
            let (least, most) = to.integer_limits();
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

/// `before && next`.
pub(super) fn both(before: Option<Expr>, next: Expr, span: Span) -> Option<Expr> {
    Some(match before {
        None => next,
        Some(before) => binary(BinaryOp::AndAlso, before, next, span),
    })
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
        // A float where integers live is a slip more often than not. Constants of the file have no place for a test.
        if (expr.ty.is_float() && target.is_some()) || !self.open_constants.is_empty() {
            return Err(self.fail(TypeError::Inexact { from: expr.ty, to, span, target }));
        }
        self.exactly(expr, to, span)
    }

    /// `to(expr)`, where the function fails unless the value is one of `to`.
    fn exactly(&mut self, expr: Expr, to: ScalarType, span: Span) -> Checked<Expr> {
        if expr.ty.is_float() {
            let value = self.share(expr);
            let whole = intrinsic(Intrinsic::Trunc, vec![value.clone()], value.ty, span);
            let is_whole = compare(CompareOp::Eq, whole, value.clone(), span);
            return self.truncated(value, to, Some(is_whole), &format!("{to}(x)"), span);
        }
        let value = self.share(expr);
        let ((least, most), (from, until)) = (to.integer_limits(), value.ty.integer_limits());
        let mut fits: Option<Expr> = None;
        for (op, limit, needed) in [(CompareOp::Ge, least, from < least), (CompareOp::Le, most, until > most)] {
            if needed {
                let limit = Expr::constant(Constant::integer(value.ty, limit), span);
                fits = both(fits, compare(op, value.clone(), limit, span), span);
            }
        }
        self.value_fits(fits, &format!("trunc({to}, x)"), span)?;
        Ok(match to {
            ScalarType::Bool => {
                compare(CompareOp::Eq, value.clone(), Expr::constant(Constant::integer(value.ty, 1), span), span)
            }
            _ => widen(value, to),
        })
    }

    /// `trunc(to, value)` of a whole number, or of a number of which `also` says whether it is one.
    pub(super) fn truncated(
        &mut self,
        value: Expr,
        to: ScalarType,
        also: Option<Expr>,
        call: &str,
        span: Span,
    ) -> Checked<Expr> {
        let value = self.share(value);
        let (least, most) = to.integer_limits();
        // Both are powers of two, or zero, and so exact.
        let limit = |limit: i128| Expr::constant(Constant::integer(value.ty, limit), span);
        let low = compare(CompareOp::Ge, value.clone(), limit(least), span);
        let high = compare(CompareOp::Lt, value.clone(), limit(most + 1), span);
        let fits = both(Some(low), high, span);
        let fits = match also {
            Some(also) => both(fits, also, span),
            None => fits,
        };
        self.value_fits(fits.clone(), call, span)?;
        if to == ScalarType::Bool {
            return Ok(compare(CompareOp::Eq, value.clone(), limit(1), span));
        }
        let kind = ExprKind::Wrap(Box::new(value));
        let truncated = Expr { ty: to, span, kind };
        Ok(match fits {
            // Other paths may evaluate it, too, and must get some value.
            Some(fits) if self.conditions > 0 => {
                let no = Expr::constant(Constant::integer(to, 0), span);
                let kind = ExprKind::Select { condition: Box::new(fits), yes: Box::new(truncated), no: Box::new(no) };
                Expr { ty: to, span, kind }
            }
            Some(_) | None => truncated,
        })
    }

    fn value_fits(&mut self, fits: Option<Expr>, call: &str, span: Span) -> Checked<()> {
        match fits {
            Some(fits) => self.require(fits, SizeError::Inexact, &format!("`{call}` is not exact"), span),
            None => Ok(()),
        }
    }

    /// Both operands in their promoted type, as `promote` would have them; refused if that may throw.
    pub(super) fn promoted(&mut self, left: Expr, right: Expr) -> Checked<(Expr, Expr)> {
        let ty = promote(left.ty, right.ty);
        let left = self.coerce(left, ty, None);
        let right = self.coerce(right, ty, None);
        Ok((left?, right?))
    }
}
