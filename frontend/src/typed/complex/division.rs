//! Division by complex numbers. What Julia's rule computes is an operation of its own for each half of the result.
//!
//! `Float32`s are divided as `Float64`s and rounded at the end, as in Julia.

use super::Complex;
use crate::typed::check::{Checked, Checker};
use crate::typed::compare::compare;
use crate::typed::convert::{float_of, promote, widen};
use crate::typed::operator::{if_else, intrinsic};
use crate::typed::tree::Expr;
use tessella_diagnostics::Span;
use tessella_scalar::{CompareOp, Intrinsic, ScalarType};

impl Checker<'_> {
    /// `z / w`.
    pub(super) fn complex_quotient(&mut self, z: Complex, w: Complex, span: Span) -> Checked<Complex> {
        if !z.half().is_float() && !w.half().is_float() {
            return self.quotient_of_integers(z, w, span);
        }
        let half = float_of(promote(z.half(), w.half()));
        let (z, w) = (wide(z, half), wide(w, half));
        if half == ScalarType::F32 {
            let inverse = self.wide_inverse(w, span);
            let product = self.complex_product(z, inverse, span)?;
            return Ok(Complex { re: widen(product.re, half), im: widen(product.im, half) });
        }
        let (z, w) = (self.shared_complex(z), self.shared_complex(w));
        let operands = [z.re, z.im, w.re, w.im];
        let of = |function| intrinsic(function, operands.to_vec(), half, span);
        Ok(Complex { re: of(Intrinsic::QuotientRe), im: of(Intrinsic::QuotientIm) })
    }

    /// `z / w` of complex integers: products of an integer and the ratio of the divisor's halves.
    fn quotient_of_integers(&mut self, z: Complex, w: Complex, span: Span) -> Checked<Complex> {
        let half = promote(z.half(), w.half());
        let as_half = |value: Complex| Complex { re: widen(value.re, half), im: widen(value.im, half) };
        let (z, w) = (self.shared_complex(as_half(z)), self.shared_complex(as_half(w)));
        let size = |checker: &mut Self, part: &Expr| checker.number_function("abs", vec![part.clone()], span);
        let (size_re, size_im) = (size(self, &w.re)?, size(self, &w.im)?);
        let turned = self.share(compare(CompareOp::Le, size_re, size_im, span));
        // The larger half of the divisor divides.
        let pick = |yes: &Expr, no: &Expr| if_else(turned.clone(), yes.clone(), no.clone(), span);
        let (small, large) = (pick(&w.re, &w.im), pick(&w.im, &w.re));
        let (small, large) = (self.share(small), self.share(large));
        let ratio = self.binary_operator("/", small.clone(), large.clone(), span)?;
        let ratio = self.share(ratio);
        let lower = self.binary_operator("*", ratio.clone(), small, span)?;
        let divisor = self.binary_operator("+", large, lower, span)?;
        let divisor = self.share(divisor);
        let scaled_re = self.binary_operator("*", z.re.clone(), ratio.clone(), span)?;
        let scaled_im = self.binary_operator("*", z.im.clone(), ratio, span)?;
        let (scaled_re, scaled_im) = (self.share(scaled_re), self.share(scaled_im));
        let mut half_of = |symbol: [&str; 2], yes: [&Expr; 2], no: [&Expr; 2]| {
            let yes = self.binary_operator(symbol[0], yes[0].clone(), yes[1].clone(), span)?;
            let no = self.binary_operator(symbol[1], no[0].clone(), no[1].clone(), span)?;
            self.binary_operator("/", if_else(turned.clone(), yes, no, span), divisor.clone(), span)
        };
        let re = half_of(["+", "+"], [&scaled_re, &z.im], [&z.re, &scaled_im])?;
        let im = half_of(["-", "-"], [&scaled_im, &z.re], [&z.im, &scaled_re])?;
        Ok(Complex { re, im })
    }

    /// `inv(z)`.
    pub(super) fn complex_inverse(&mut self, z: Complex, span: Span) -> Complex {
        let half = float_of(z.half());
        let inverse = self.wide_inverse(wide(z, half), span);
        Complex { re: widen(inverse.re, half), im: widen(inverse.im, half) }
    }

    /// The inverse of a `ComplexF64`.
    fn wide_inverse(&mut self, z: Complex, span: Span) -> Complex {
        let Complex { re, im } = self.shared_complex(z);
        let of = |function| intrinsic(function, vec![re.clone(), im.clone()], ScalarType::F64, span);
        Complex { re: of(Intrinsic::InverseRe), im: of(Intrinsic::InverseIm) }
    }
}

/// The number with halves of type `half`, as `Float64`s.
fn wide(value: Complex, half: ScalarType) -> Complex {
    let as_half = |part: Expr| widen(widen(part, half), ScalarType::F64);
    Complex { re: as_half(value.re), im: as_half(value.im) }
}
