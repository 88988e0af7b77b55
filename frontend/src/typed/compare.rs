//! Comparisons. Julia compares numbers of different types exactly, not after rounding one to the other's type.

use super::check::{Checked, Checker};
use super::convert::{convert_constant, is_total, promote, unsigned, widen};
use super::error::TypeError;
use super::operator::binary;
use super::tree::{Expr, ExprKind};
use super::value::Value;
use crate::ast;
use tessella_diagnostics::{Span, Spanned};
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType};

pub(super) fn compare(operator: CompareOp, left: Expr, right: Expr, span: Span) -> Expr {
    Expr { ty: ScalarType::Bool, kind: ExprKind::Compare(operator, Box::new(left), Box::new(right)), span }
}

pub(super) fn operator_of(symbol: &str) -> Option<CompareOp> {
    Some(match symbol {
        "==" => CompareOp::Eq,
        "!=" | "≠" => CompareOp::Ne,
        "<" => CompareOp::Lt,
        "<=" | "≤" => CompareOp::Le,
        ">" => CompareOp::Gt,
        ">=" | "≥" => CompareOp::Ge,
        _ => return None,
    })
}

/// A comparison with its operands in the order of the source again.
fn turned(compared: Expr) -> Expr {
    match compared.kind {
        ExprKind::Compare(operator, left, right) => {
            Expr { kind: ExprKind::Compare(operator.mirrored(), right, left), ..compared }
        }
        kind => Expr { kind, ..compared },
    }
}

impl Checker<'_> {
    /// `a < b <= c`: each operand is evaluated at most once, and none after a comparison that fails.
    pub(super) fn comparison(
        &mut self,
        operands: &[ast::Expr],
        operators: &[Spanned<ast::Operator>],
        span: Span,
    ) -> Checked<Value> {
        let mut values = vec![];
        for (position, operand) in operands.iter().enumerate() {
            let value = match position > 1 {
                true => self.conditionally(|checker| checker.value(operand)),
                false => self.value(operand),
            };
            let is_inner = position > 0 && position + 1 < operands.len();
            values.push(match value {
                Ok(Value::Scalar(value)) if is_inner => Ok(Value::Scalar(match position > 1 {
                    true => self.conditionally(|checker| checker.share(value)),
                    false => self.share(value),
                })),
                value => value,
            });
        }
        if let ([Ok(left), Ok(right)], [operator]) = (values.as_slice(), operators)
            && (Self::is_whole(left) || Self::is_whole(right))
        {
            let (left, right) = ((left.clone(), operands[0].span), (right.clone(), operands[1].span));
            return self.array_comparison(&operator.value.symbol, operator.value.dotted, left, right, span);
        }
        let mut chain: Option<Expr> = None;
        for (position, operator) in operators.iter().enumerate() {
            let (left, right) = (values[position].clone(), values[position + 1].clone());
            let (left_at, right_at) = (operands[position].span, operands[position + 1].span);
            let pair = left_at.to(right_at);
            let next = self.compare_values(&operator.value.symbol, left?, right?, (left_at, right_at), pair)?;
            chain = Some(match chain {
                None => next,
                Some(chain) => binary(BinaryOp::AndAlso, chain, next, span),
            });
        }
        Ok(Value::Scalar(chain.expect("a comparison has at least one operator")))
    }

    pub(super) fn compare_values(
        &mut self,
        symbol: &str,
        left: Value,
        right: Value,
        spans: (Span, Span),
        span: Span,
    ) -> Checked<Expr> {
        let types = match (&left, &right) {
            (Value::Type(left), Value::Type(right)) | (Value::ComplexType(left), Value::ComplexType(right)) => {
                Some(left == right)
            }
            (Value::Type(_), Value::ComplexType(_)) | (Value::ComplexType(_), Value::Type(_)) => Some(false),
            (_, _) => None,
        };
        if let Some(equal) = types {
            match symbol {
                "==" | "===" => return Ok(Expr::constant(Constant::bool(equal), span)),
                "!=" | "≠" | "!==" => return Ok(Expr::constant(Constant::bool(!equal), span)),
                _ => {}
            }
        }
        match symbol {
            "in" | "∈" => return self.is_member(left, right, spans, span),
            "∉" => {
                let is_member = self.is_member(left, right, spans, span)?;
                return Ok(super::operator::unary(tessella_scalar::UnaryOp::Not, is_member, span));
            }
            "≈" | "≉" => {
                let (left, right) = self.scalar_pair(left, right, spans)?;
                let near = self.number_function("isapprox", vec![left, right], span)?;
                return Ok(match symbol {
                    "≈" => near,
                    _ => super::operator::unary(tessella_scalar::UnaryOp::Not, near, span),
                });
            }
            _ => {}
        }
        if let Some(equal) = self.tuples_equal(symbol, &left, &right, spans, span) {
            return equal;
        }
        if matches!(left, Value::Complex(_)) || matches!(right, Value::Complex(_)) {
            return self.complex_comparison(symbol, left, right, spans, span);
        }
        let (left, right) = self.scalar_pair(left, right, spans)?;
        let operator = match symbol {
            "===" if !left.ty.is_float() && left.ty == right.ty => CompareOp::Eq,
            "!==" if !left.ty.is_float() && left.ty == right.ty => CompareOp::Ne,
            _ => match operator_of(symbol) {
                Some(operator) => operator,
                None => return Err(self.no_method(symbol, &left, &right, span)),
            },
        };
        Ok(self.compare_exactly(operator, left, right, span))
    }

    /// `x in t` of a tuple or range: whether it equals one of the elements.
    fn is_member(&mut self, x: Value, of: Value, spans: (Span, Span), span: Span) -> Checked<Expr> {
        match of {
            Value::Tuple(values) => {
                let x = match x {
                    Value::Scalar(x) => Value::Scalar(self.share(x)),
                    other => other,
                };
                let mut any = Expr::constant(Constant::bool(false), span);
                for (at, value) in values.into_iter().enumerate() {
                    let equal = self.compare_values("==", value, x.clone(), (spans.1, spans.0), span)?;
                    any = if at == 0 { equal } else { binary(BinaryOp::OrElse, any, equal, span) };
                }
                Ok(any)
            }
            Value::Range(range) => {
                let x = self.as_scalar(x, spans.0)?;
                if !x.ty.is_integer() {
                    return Err(self.no_method("in", &x, &range.start, span));
                }
                let x = self.share(x);
                let (low, high) =
                    if range.step > 0 { (range.start.clone(), range.stop) } else { (range.stop, range.start.clone()) };
                let above = self.compare_exactly(CompareOp::Ge, x.clone(), low, span);
                let below = self.compare_exactly(CompareOp::Le, x.clone(), high, span);
                let inside = binary(BinaryOp::AndAlso, above, below, span);
                if range.step.abs() == 1 {
                    return Ok(inside);
                }
                let x = self.coerce(x, ScalarType::I64, None)?;
                let distance = binary(BinaryOp::Sub, x, range.start, span);
                let rest = binary(BinaryOp::Rem, distance, Expr::int64(range.step.saturating_abs(), span), span);
                let on_step = compare(CompareOp::Eq, rest, Expr::int64(0, span), span);
                Ok(binary(BinaryOp::AndAlso, inside, on_step, span))
            }
            other => {
                let found = self.kind(&other);
                Err(self.fail(TypeError::NotIterable { found, span: spans.1 }))
            }
        }
    }

    pub(super) fn compare_exactly(&mut self, operator: CompareOp, left: Expr, right: Expr, span: Span) -> Expr {
        let (a, b) = (left.ty, right.ty);
        if a == b || (a.is_float() && b.is_float()) || a == ScalarType::Bool || b == ScalarType::Bool {
            let ty = promote(a, b);
            return compare(operator, widen(left, ty), widen(right, ty), span);
        }
        match (a.is_float(), b.is_float()) {
            (false, false) => self.compare_integers(operator, left, right, span),
            (false, true) => self.compare_mixed(operator, left, right, span),
            (true, _) => turned(self.compare_mixed(operator.mirrored(), right, left, span)),
        }
    }

    /// Integers of different types.
    fn compare_integers(&mut self, operator: CompareOp, left: Expr, right: Expr, span: Span) -> Expr {
        let ty = promote(left.ty, right.ty);
        if is_total(left.ty, ty) && is_total(right.ty, ty) {
            return compare(operator, widen(left, ty), widen(right, ty), span);
        }
        if left.ty.is_signed_integer() {
            return self.signed_against_unsigned(operator, left, right, span);
        }
        turned(self.signed_against_unsigned(operator.mirrored(), right, left, span))
    }

    /// The signed operand's type is not wider than the unsigned one's.
    fn signed_against_unsigned(&mut self, operator: CompareOp, signed: Expr, other: Expr, span: Span) -> Expr {
        let ty = promote(signed.ty, other.ty);
        if let Some(value) = signed.as_constant().and_then(Constant::as_integer)
            && value >= 0
        {
            return compare(operator, widen(signed, ty), widen(other, ty), span);
        }
        let signed = self.share(signed);
        let zero = Expr::number(signed.ty, 0, span);
        let is_negative = compare(CompareOp::Lt, signed.clone(), zero.clone(), span);
        let is_positive = compare(CompareOp::Ge, signed.clone(), zero, span);
        let bits = compare(operator, widen(signed, ty), widen(other, ty), span);
        match operator {
            CompareOp::Eq | CompareOp::Gt | CompareOp::Ge => binary(BinaryOp::BitAnd, is_positive, bits, span),
            CompareOp::Ne | CompareOp::Lt | CompareOp::Le => binary(BinaryOp::BitOr, is_negative, bits, span),
        }
    }

    /// An integer against a float.
    fn compare_mixed(&mut self, operator: CompareOp, integer: Expr, float: Expr, span: Span) -> Expr {
        let ty = match (integer.ty.bytes(), float.ty) {
            (1 | 2, ty) => Some(ty),
            (4, _) => Some(ScalarType::F64),
            // As `promote` has it: `@fastmath` rounds.
            (_, ty) if self.mode.fastmath => Some(ty),
            (_, ty) => {
                // A constant that the float type holds exactly is compared as a float.
                let constant = integer.as_constant().and_then(Constant::as_integer);
                let limit = if ty == ScalarType::F32 { 1 << 24 } else { 1 << 53 };
                constant.is_some_and(|value| value.abs() <= limit).then_some(ty)
            }
        };
        if let Some(ty) = ty {
            return compare(operator, widen(integer, ty), widen(float, ty), span);
        }
        // A whole float constant is compared as an integer.
        if let Some(constant) = float.as_constant()
            && let Some(whole) = convert_constant(constant, integer.ty)
            && whole.as_integer().is_some_and(|value| value.abs() < 1 << 53)
            && unsigned(integer.ty) == ScalarType::U64
        {
            let at = float.span;
            return compare(operator, integer, Expr::constant(whole, at), span);
        }
        self.compare_rounded(operator, integer, float, span)
    }

    /// An integer of 64 bits against a float: rounded first, which keeps the order of all that do not become equal by it, and by what
    /// rounding took away where they do.
    fn compare_rounded(&mut self, operator: CompareOp, integer: Expr, float: Expr, span: Span) -> Expr {
        let double = |value: Expr| widen(value, ScalarType::F64);
        let float = self.share(double(float));
        let integer = self.share(integer);
        let rounded = self.share(double(integer.clone()));
        // Halves of the integer are floats, and so is each part of the sum: nothing is rounded here.
        let shift = if integer.ty.is_signed_integer() { BinaryOp::ShiftRight } else { BinaryOp::ShiftRightLogical };
        let high = double(binary(shift, integer.clone(), Expr::int64(32, span), span));
        let mask = Expr::number(integer.ty, i128::from(u32::MAX), span);
        let low = double(binary(BinaryOp::BitAnd, integer, mask, span));
        let unit = Expr::constant(Constant::f64(4_294_967_296.0), span);
        let high = binary(BinaryOp::Sub, binary(BinaryOp::Mul, high, unit, span), rounded.clone(), span);
        let rest = self.share(binary(BinaryOp::Add, high, low, span));
        let none = Expr::constant(Constant::f64(0.0), span);
        let here = |operator| compare(operator, rounded.clone(), float.clone(), span);
        let of_rest = |operator| compare(operator, rest.clone(), none.clone(), span);
        let (strict, joins) = match operator {
            CompareOp::Eq => return binary(BinaryOp::BitAnd, here(CompareOp::Eq), of_rest(CompareOp::Eq), span),
            CompareOp::Ne => return binary(BinaryOp::BitOr, here(CompareOp::Ne), of_rest(CompareOp::Ne), span),
            CompareOp::Lt | CompareOp::Le => (CompareOp::Lt, operator),
            CompareOp::Gt | CompareOp::Ge => (CompareOp::Gt, operator),
        };
        let equal = binary(BinaryOp::BitAnd, here(CompareOp::Eq), of_rest(joins), span);
        binary(BinaryOp::BitOr, here(strict), equal, span)
    }
}
