//! Integer and float division with a remainder: `÷ % div rem fld mod cld`.

use super::check::{Checked, Checker};
use super::compare::compare;
use super::constant::folded;
use super::convert::{constant_integer, promote, signed, unsigned, widen};
use super::error::TypeError;
use super::operator::{binary, if_else, unary};
use super::tree::{Expr, SizeError};
use super::value::Kind;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType, UnaryOp};

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
        let is_signed = |ty: ScalarType| ty.is_signed_integer() || ty == ScalarType::Bool;
        let Some(divisor) = constant_integer(&right) else {
            if left.ty != ScalarType::Bool && right.ty != ScalarType::Bool && is_signed(left.ty) != is_signed(right.ty)
            {
                return Err(self.fail(TypeError::MixedSigns {
                    operator: symbol.into(),
                    left: left.ty,
                    right: right.ty,
                    span,
                }));
            }
            if !self.open_constants.is_empty() {
                let operator = symbol.to_string();
                return Err(self.fail(TypeError::MayDivideByZero { operator, divisor: at, span, zero: false }));
            }
            return self.division_by_variable(operator, symbol, (widen(left, ty), widen(right, ty)), span);
        };
        if divisor == 0 {
            let operator = symbol.to_string();
            return Err(self.fail(TypeError::MayDivideByZero { operator, divisor: at, span, zero: true }));
        }
        if divisor == -1 {
            return Err(self.fail(TypeError::DivisionByMinusOne { operator: symbol.into(), divisor: at }));
        }
        if left.ty == ScalarType::Bool || right.ty == ScalarType::Bool || is_signed(left.ty) == is_signed(right.ty) {
            return Ok(binary(operator, widen(left, ty), widen(right, ty), span));
        }
        // Julia divides an unsigned integer by the magnitude of a signed one, both unsigned.
        let wide = promote(left.ty, unsigned(right.ty));
        let modulus = promote(right.ty, signed(wide));
        // `mod` adds the divisor before it takes the remainder, which must not overflow.
        let is_small = operator != BinaryOp::Mod || divisor <= modulus.integer_limits().1 / 2;
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

    /// A division of integers of one type whose divisor may be anything: the function fails where Julia raises.
    ///
    /// The divisor that is divided by is never one that has no quotient, so that any path may evaluate the division.
    fn division_by_variable(
        &mut self,
        operator: BinaryOp,
        symbol: &str,
        (left, right): (Expr, Expr),
        span: Span,
    ) -> Checked<Expr> {
        let ty = left.ty;
        let (left, right) = (self.share(left), self.share(right));
        let number = |value: i128| Expr::constant(Constant::integer(ty, value), span);
        let is = |value: &Expr, of: i128| compare(CompareOp::Eq, value.clone(), number(of), span);
        let either = |a: Expr, b: Expr| binary(BinaryOp::OrElse, a, b, span);
        let zero = is(&right, 0);
        let has_rest = matches!(operator, BinaryOp::Rem | BinaryOp::Mod);
        // Of the smallest integer and -1: there is no quotient, and the rest is that of any integer and 1.
        let (fails, replaced) = match (ty.is_signed_integer(), has_rest) {
            (false, _) => (zero.clone(), zero),
            (true, true) => (zero.clone(), either(zero, is(&right, -1))),
            (true, false) => {
                let least = is(&left, ty.integer_limits().0);
                let overflows = binary(BinaryOp::AndAlso, is(&right, -1), least, span);
                let fails = either(zero, overflows);
                (fails.clone(), fails)
            }
        };
        let text = format!("`{symbol}` divides by zero, or the smallest integer by -1");
        let works = unary(UnaryOp::Not, fails, span);
        self.require(works, SizeError::Divide, &text, span)?;
        Ok(binary(operator, left, if_else(replaced, number(1), right, span), span))
    }
}
