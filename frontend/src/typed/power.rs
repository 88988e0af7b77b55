//! `x ^ y`: Julia treats literal exponents specially, and so must we.

use super::check::{Checked, Checker};
use super::constant::folded;
use super::convert::{constant_integer, float_of, widen};
use super::error::TypeError;
use super::operator::{binary, intrinsic};
use super::tree::Expr;
use super::value::{Value, with_article};
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, Constant, Intrinsic, ScalarType};

/// Larger exponents of integers are refused: 64 bits do not hold the product of so many factors.
const LARGEST_EXPONENT: i128 = 64;

impl Checker<'_> {
    pub(super) fn power(&mut self, base: &ast::Expr, exponent: &ast::Expr, dotted: bool, span: Span) -> Checked<Value> {
        let base_value = self.value(base);
        let exponent_value = self.value(exponent);
        let (base_value, exponent_value) = (base_value?, exponent_value?);
        if Self::is_whole(&base_value) || Self::is_whole(&exponent_value) {
            let (left, right) = ((base_value, base.span), (exponent_value, exponent.span));
            return self.array_infix("^", dotted, left, right, is_literal(exponent), span);
        }
        if matches!(base_value, Value::Complex(_)) || matches!(exponent_value, Value::Complex(_)) {
            let literal = is_literal(exponent);
            return self.complex_power(base_value, &exponent_value, literal, span).map(super::complex::Complex::value);
        }
        let (base_scalar, power) = self.scalar_pair(base_value, exponent_value, (base.span, exponent.span))?;
        self.power_of(base_scalar, power, is_literal(exponent), span).map(Value::Scalar)
    }

    pub(super) fn power_of(&mut self, base: Expr, exponent: Expr, literal: bool, span: Span) -> Checked<Expr> {
        if exponent.ty.is_float() || exponent.ty == ScalarType::Bool {
            return match (base.ty, exponent.ty) {
                (_, ScalarType::Bool) | (ScalarType::Bool, _) => Err(self.no_method("^", &base, &exponent, span)),
                (_, _) => {
                    let (base, exponent) = self.promoted(base, exponent)?;
                    let ty = base.ty;
                    Ok(intrinsic(Intrinsic::Pow, vec![base, exponent], ty, span))
                }
            };
        }
        let exponent = folded(exponent);
        let Some(power) = constant_integer(&exponent) else {
            return self.variable_power(base, exponent, span);
        };
        let is_too_large = base.ty.is_integer() && power > LARGEST_EXPONENT;
        if base.ty == ScalarType::Bool || is_too_large {
            return Err(self.no_method("^", &base, &exponent, span));
        }
        if base.ty.is_float() {
            return Ok(self.float_power(base, power, span));
        }
        if power >= 0 {
            return Ok(self.integer_power(base, power, span));
        }
        if !literal {
            let (operator, operands) = ("^".to_string(), format!("{} and a negative exponent", with_article(base.ty)));
            let help = Some("convert the base to floating point first");
            return Err(self.fail(TypeError::NoMethod { operator, operands, span, help }));
        }
        // `x^-n` of an integer is `inv(x)^n`.
        let ty = float_of(base.ty);
        let one = Expr::constant(Constant::f64(1.0), span);
        let inverse = binary(BinaryOp::Div, one, widen(base, ty), span);
        Ok(self.float_power(inverse, -power, span))
    }

    /// An integer exponent that varies: of floats Julia converts it, of integers it multiplies.
    fn variable_power(&mut self, base: Expr, exponent: Expr, span: Span) -> Checked<Expr> {
        if base.ty == ScalarType::Bool {
            return Err(self.no_method("^", &base, &exponent, span));
        }
        if base.ty.is_float() {
            let ty = base.ty;
            return Ok(intrinsic(Intrinsic::Pow, vec![base, widen(exponent, ty)], ty, span));
        }
        let function = match constant_integer(&folded(base.clone())) {
            Some(2) => "power_of_two",
            Some(-1) => "power_of_minus_one",
            _ => "integer_power",
        };
        self.inlined_scalar(function, vec![base, exponent], span)
    }

    fn float_power(&mut self, base: Expr, power: i128, span: Span) -> Expr {
        let ty = base.ty;
        let number = |value: f64| match ty {
            ScalarType::F32 => Expr::constant(Constant::f32(value as f32), span),
            _ => Expr::constant(Constant::f64(value), span),
        };
        match power {
            -1 => binary(BinaryOp::Div, number(1.0), base, span),
            0 => number(1.0),
            1 => base,
            2 | 3 => {
                let base = self.share(base);
                let square = binary(BinaryOp::Mul, base.clone(), base.clone(), span);
                if power == 2 { square } else { binary(BinaryOp::Mul, square, base, span) }
            }
            _ => intrinsic(Intrinsic::Pow, vec![base, number(power as f64)], ty, span),
        }
    }

    /// Products of integers wrap around, so that the order of the factors does not matter.
    fn integer_power(&mut self, base: Expr, power: i128, span: Span) -> Expr {
        match power {
            0 => return Expr::number(base.ty, 1, span),
            1 => return base,
            _ => {}
        }
        let mut square = self.share(base);
        let mut result: Option<Expr> = None;
        let mut rest = power;
        loop {
            if rest & 1 == 1 {
                result = Some(match result {
                    None => square.clone(),
                    Some(result) => folded(binary(BinaryOp::Mul, result, square.clone(), span)),
                });
            }
            rest >>= 1;
            if rest == 0 {
                return result.expect("a positive exponent has a bit that is set");
            }
            square = folded(binary(BinaryOp::Mul, square.clone(), square, span));
            if rest > 1 {
                square = self.share(square);
            }
        }
    }
}

/// Whether an exponent is written as a number, which Julia treats in its own way.
fn is_literal(exponent: &ast::Expr) -> bool {
    match &exponent.kind {
        ast::ExprKind::Integer(_) => true,
        ast::ExprKind::Prefix { operator, operand } => {
            operator.value.symbol == "-" && matches!(operand.kind, ast::ExprKind::Integer(_))
        }
        _ => false,
    }
}
