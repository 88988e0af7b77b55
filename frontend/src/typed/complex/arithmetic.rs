//! Operators on complex numbers. Real operands stay real: `x * z` is two products, not four.

use super::{Complex, ComplexError};
use crate::typed::check::{Checked, Checker};
use crate::typed::convert::{promote, widen};
use crate::typed::tree::Expr;
use crate::typed::value::Value;
use tessella_diagnostics::Span;
use tessella_scalar::{Constant, ScalarType};

/// The operands of an operator, one of which at least is complex.
enum Pair {
    Both(Complex, Complex),
    Left(Complex, Expr),
    Right(Expr, Complex),
}

impl Checker<'_> {
    pub(in crate::typed) fn complex_unary(&mut self, symbol: &str, value: Complex, span: Span) -> Checked<Complex> {
        let Complex { re, im } = value;
        match symbol {
            "+" | "-" => {
                let (re, im) = (self.unary_operator(symbol, re, span), self.unary_operator(symbol, im, span));
                Ok(Complex { re: re?, im: im? })
            }
            _ => Err(self.complex_error(ComplexError::Unsupported { operation: symbol.into(), span })),
        }
    }

    /// `left symbol right`, where one of them is complex.
    pub(in crate::typed) fn complex_binary(
        &mut self,
        symbol: &str,
        left: Value,
        right: Value,
        spans: (Span, Span),
        span: Span,
    ) -> Checked<Complex> {
        if !matches!(symbol, "+" | "-" | "*" | "/" | "\\") {
            return Err(self.complex_error(ComplexError::Unsupported { operation: symbol.into(), span }));
        }
        let pair = self.complex_pair(left, right, spans)?;
        let mut of = |symbol: &str, a: &Expr, b: &Expr| self.binary_operator(symbol, a.clone(), b.clone(), span);
        match (symbol, pair) {
            ("+" | "-", Pair::Both(z, w)) => Ok(Complex::new(of(symbol, &z.re, &w.re)?, of(symbol, &z.im, &w.im)?)),
            ("+", Pair::Left(z, x)) if x.ty == ScalarType::Bool || z.half() == ScalarType::Bool => {
                Ok(Complex::new(of("+", &z.re, &x)?, z.im))
            }
            ("+", Pair::Left(z, x) | Pair::Right(x, z)) => Ok(Complex::new(of("+", &x, &z.re)?, z.im)),
            ("-", Pair::Left(z, x)) => Ok(Complex::new(of("-", &z.re, &x)?, z.im)),
            ("-", Pair::Right(x, z)) => {
                let re = of("-", &x, &z.re)?;
                // Julia converts the imaginary half first unless `x` is a `Bool`.
                let im = if x.ty == ScalarType::Bool { z.im } else { widen(z.im, re.ty) };
                let im = self.unary_operator("-", im, span)?;
                Ok(Complex::new(re, im))
            }
            ("*", Pair::Both(z, w)) => self.complex_product(z, w, span),
            ("*", Pair::Left(z, x)) if x.ty == ScalarType::Bool || z.half() == ScalarType::Bool => {
                let x = self.shared_half(x);
                let re = self.binary_operator("*", z.re, x.clone(), span)?;
                Ok(Complex::new(re, self.binary_operator("*", z.im, x, span)?))
            }
            ("*", Pair::Left(z, x) | Pair::Right(x, z)) => {
                let x = self.shared_half(x);
                let re = self.binary_operator("*", x.clone(), z.re, span)?;
                Ok(Complex::new(re, self.binary_operator("*", x, z.im, span)?))
            }
            ("/", Pair::Left(z, x)) | ("\\", Pair::Right(x, z)) => {
                let x = self.shared_half(x);
                let re = self.binary_operator("/", z.re, x.clone(), span)?;
                Ok(Complex::new(re, self.binary_operator("/", z.im, x, span)?))
            }
            ("/", Pair::Both(z, w)) | ("\\", Pair::Both(w, z)) => self.complex_quotient(z, w, span),
            ("/", Pair::Right(x, z)) | ("\\", Pair::Left(z, x)) => {
                let half = promote(x.ty, z.half());
                let z = Complex { re: widen(z.re, half), im: widen(z.im, half) };
                let inverse = self.complex_inverse(z, span);
                let x = self.shared_half(x);
                let re = self.binary_operator("*", x.clone(), inverse.re, span)?;
                Ok(Complex::new(re, self.binary_operator("*", x, inverse.im, span)?))
            }
            (_, _) => Err(self.complex_error(ComplexError::Unsupported { operation: symbol.into(), span })),
        }
    }

    fn complex_pair(&mut self, left: Value, right: Value, spans: (Span, Span)) -> Checked<Pair> {
        match (left, right) {
            (Value::Complex(z), Value::Complex(w)) => Ok(Pair::Both(*z, *w)),
            (Value::Complex(z), x) => {
                let x = self.real_beside(x, z.half(), spans.1)?;
                Ok(Pair::Left(*z, x))
            }
            (x, Value::Complex(z)) => {
                let x = self.real_beside(x, z.half(), spans.0)?;
                Ok(Pair::Right(x, *z))
            }
            (left, right) => {
                let (left, right) = (self.as_scalar(left, spans.0)?, self.as_scalar(right, spans.1)?);
                let im = Expr::constant(super::zero(left.ty), spans.0);
                Ok(Pair::Left(Complex { re: left, im }, right))
            }
        }
    }

    /// A real operand; `π` and `ℯ` take the precision of the complex one.
    fn real_beside(&mut self, value: Value, half: ScalarType, span: Span) -> Checked<Expr> {
        let weak = matches!(value, Value::Irrational(..));
        let value = self.as_scalar(value, span)?;
        Ok(if weak && half == ScalarType::F32 { widen(value, half) } else { value })
    }

    pub(in crate::typed) fn complex_product(&mut self, z: Complex, w: Complex, span: Span) -> Checked<Complex> {
        let (z, w) = (self.shared_complex(z), self.shared_complex(w));
        let mut times = |a: &Expr, b: &Expr| self.binary_operator("*", a.clone(), b.clone(), span);
        let (rr, ii) = (times(&z.re, &w.re)?, times(&z.im, &w.im)?);
        let (ri, ir) = (times(&z.re, &w.im)?, times(&z.im, &w.re)?);
        let re = self.binary_operator("-", rr, ii, span)?;
        let im = self.binary_operator("+", ri, ir, span)?;
        Ok(Complex::new(re, im))
    }

    /// `z ^ n`: only small literal exponents are products in Julia, too.
    pub(in crate::typed) fn complex_power(
        &mut self,
        base: Value,
        exponent: &Value,
        literal: bool,
        span: Span,
    ) -> Checked<Complex> {
        let power = match exponent {
            Value::Scalar(exponent) if literal => crate::typed::convert::constant_integer(exponent),
            _ => None,
        };
        let Value::Complex(z) = base else {
            return Err(self.complex_error(ComplexError::Unsupported { operation: "^".into(), span }));
        };
        match power {
            Some(0) => {
                let ty = z.half();
                Ok(Complex { re: self.real_constant("one", ty, span)?, im: Expr::constant(super::zero(ty), span) })
            }
            Some(1) => Ok(*z),
            Some(power @ (2 | 3)) => {
                let z = self.shared_complex(*z);
                let square = self.complex_product(z.clone(), z.clone(), span)?;
                if power == 2 { Ok(square) } else { self.complex_product(square, z, span) }
            }
            Some(_) | None => Err(self.complex_error(ComplexError::Unsupported { operation: "^".into(), span })),
        }
    }

    /// `z == w`, `z != w`; real operands are compared with the real half, and the imaginary one with zero.
    pub(in crate::typed) fn complex_comparison(
        &mut self,
        symbol: &str,
        left: Value,
        right: Value,
        spans: (Span, Span),
        span: Span,
    ) -> Checked<Expr> {
        if !matches!(symbol, "==" | "!=" | "≠") {
            return Err(self.complex_error(ComplexError::Unsupported { operation: symbol.into(), span }));
        }
        let (left, right) = (self.as_complex(left, spans.0)?, self.as_complex(right, spans.1)?);
        let eq = tessella_scalar::CompareOp::Eq;
        let re = self.compare_exactly(eq, left.re, right.re, span);
        let im = self.compare_exactly(eq, left.im, right.im, span);
        let equal = self.binary_operator("&", re, im, span)?;
        if symbol == "==" { Ok(equal) } else { self.unary_operator("!", equal, span) }
    }

    pub(super) fn real_constant(&mut self, name: &str, ty: ScalarType, span: Span) -> Checked<Expr> {
        let value = self.type_constant(name, ty, span)?;
        self.as_scalar(value, span)
    }

    /// Whether a real number is zero.
    pub(super) fn half_is_zero(&mut self, half: Expr, span: Span) -> Expr {
        let zero: Constant = super::zero(half.ty);
        let zero = Expr::constant(zero, span);
        self.compare_exactly(tessella_scalar::CompareOp::Eq, half, zero, span)
    }
}
