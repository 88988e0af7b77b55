//! Integer and float division with a remainder: `÷ % div rem fld mod cld`.

use super::check::{Checked, Checker};
use super::constant::folded;
use super::convert::{constant_integer, integer_limits, promote, signed, unsigned, widen};
use super::error::TypeError;
use super::operator::binary;
use super::tree::Expr;
use super::value::Kind;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, ScalarType};

impl Checker<'_> {
    /// One of the division operators; the divisor of integers must be a constant that cannot make it throw.
    pub(super) fn division(
        &mut self,
        operator: BinaryOp,
        symbol: &str,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Checked<Expr> {
        let ty = promote(left.ty, right.ty);
        // Julia has two definitions of `cld`, one for floats of one type, and they differ for zeros and infinities.
        if ty.is_float() && operator == BinaryOp::DivCeil && left.ty != right.ty {
            let operands = format!("{} and {}", Kind::Scalar(left.ty), Kind::Scalar(right.ty));
            let help = Some("convert both to one type first");
            return Err(self.fail(TypeError::NoMethod { operator: symbol.into(), operands, span, help }));
        }
        if ty.is_float() {
            return Ok(binary(operator, widen(left, ty), widen(right, ty), span));
        }
        if ty == ScalarType::Bool {
            return Err(self.no_method(symbol, &left, &right, span));
        }
        let at = right.span;
        let right = folded(right);
        let Some(divisor) = constant_integer(&right) else {
            let operator = symbol.to_string();
            return Err(self.fail(TypeError::MayDivideByZero { operator, divisor: at, span, zero: false }));
        };
        if divisor == 0 {
            let operator = symbol.to_string();
            return Err(self.fail(TypeError::MayDivideByZero { operator, divisor: at, span, zero: true }));
        }
        if divisor == -1 {
            return Err(self.fail(TypeError::DivisionByMinusOne { operator: symbol.into(), divisor: at }));
        }
        let is_signed = |ty: ScalarType| ty.is_signed_integer() || ty == ScalarType::Bool;
        if left.ty == ScalarType::Bool || right.ty == ScalarType::Bool || is_signed(left.ty) == is_signed(right.ty) {
            return Ok(binary(operator, widen(left, ty), widen(right, ty), span));
        }
        // Julia divides an unsigned integer by the magnitude of a signed one, both unsigned.
        let wide = promote(left.ty, unsigned(right.ty));
        let modulus = promote(right.ty, signed(wide));
        // `mod` adds the divisor before it takes the remainder, which must not overflow.
        let is_small = operator != BinaryOp::Mod || divisor <= integer_limits(modulus).1 / 2;
        if !is_signed(left.ty) && divisor > 0 && is_small {
            let quotient = binary(operator, widen(left, wide), widen(right.clone(), wide), span);
            return Ok(match operator {
                // Adding the signed divisor makes the result signed.
                BinaryOp::Mod => widen(quotient, modulus),
                _ => quotient,
            });
        }
        Err(self.fail(TypeError::MixedSigns { operator: symbol.into(), left: left.ty, right: right.ty, span }))
    }
}
