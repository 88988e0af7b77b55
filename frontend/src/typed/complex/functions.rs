//! Functions of complex numbers, and those that make them.

use super::{Complex, ComplexError};
use crate::ast;
use crate::typed::check::{Checked, Checker};
use crate::typed::compare::compare;
use crate::typed::operator::{binary, if_else, intrinsic};
use crate::typed::tree::Expr;
use crate::typed::value::Value;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Constant, Intrinsic, ScalarType};

/// Functions that mean something of real numbers, too, but are about complex ones.
pub(in crate::typed) const ABOUT_COMPLEX: [&str; 8] =
    ["complex", "Complex", "real", "imag", "conj", "isreal", "cis", "angle"];

impl Checker<'_> {
    /// A function one of whose arguments is complex, or one that makes complex numbers; `None` for any other.
    pub(in crate::typed) fn complex_function(
        &mut self,
        name: &str,
        values: &[Value],
        spans: &[Span],
        span: Span,
    ) -> Option<Checked<Value>> {
        let is_complex = values.iter().any(|value| matches!(value, Value::Complex(_)));
        if !is_complex && !ABOUT_COMPLEX.contains(&name) {
            return None;
        }
        let at = |position: usize| spans.get(position).copied().unwrap_or(span);
        let pair = (at(0), at(1));
        Some(match (name, values) {
            ("complex" | "Complex", [Value::Type(half)]) if name == "complex" => Ok(Value::ComplexType(*half)),
            ("complex", [Value::ComplexType(half)]) => Ok(Value::ComplexType(*half)),
            ("real", [Value::ComplexType(half) | Value::Type(half)]) => Ok(Value::Type(*half)),
            ("complex" | "Complex", [value]) => self.as_complex(value.clone(), at(0)).map(Complex::value),
            ("complex" | "Complex", [re, im]) => {
                self.scalar_pair(re.clone(), im.clone(), pair).map(|(re, im)| Complex::new(re, im).value())
            }
            ("cis", [Value::Complex(_)]) => self.unsupported(name, span),
            ("cis", [angle]) => self.cis(angle.clone(), at(0), span),
            ("+" | "-", [Value::Complex(z)]) => self.complex_unary(name, (**z).clone(), span).map(Complex::value),
            ("+" | "-" | "*" | "/" | "\\", [left, right]) => {
                self.complex_binary(name, left.clone(), right.clone(), pair, span).map(Complex::value)
            }
            ("+" | "*", [first, rest @ ..]) if rest.len() > 1 => self.folded_operator(name, first, rest, span),
            ("==" | "!=" | "≠", [left, right]) => {
                self.complex_comparison(name, left.clone(), right.clone(), pair, span).map(Value::Scalar)
            }
            ("muladd", [x, y, z]) => self.complex_muladd([x.clone(), y.clone(), z.clone()], spans, span),
            ("ifelse", [Value::Scalar(condition), Value::Complex(yes), Value::Complex(no)])
                if condition.ty == ScalarType::Bool && yes.half() == no.half() =>
            {
                let condition = self.share(condition.clone());
                let re = if_else(condition.clone(), yes.re.clone(), no.re.clone(), span);
                Ok(Complex { re, im: if_else(condition, yes.im.clone(), no.im.clone(), span) }.value())
            }
            (_, [one]) => match one {
                Value::Complex(z) => self.function_of_complex(name, (**z).clone(), span),
                other => self.function_of_real(name, other.clone(), at(0), span),
            },
            (_, _) => self.unsupported(name, span),
        })
    }

    fn unsupported<T>(&mut self, name: &str, span: Span) -> Checked<T> {
        Err(self.complex_error(ComplexError::Unsupported { operation: name.into(), span }))
    }

    fn folded_operator(&mut self, name: &str, first: &Value, rest: &[Value], span: Span) -> Checked<Value> {
        let mut result = first.clone();
        for next in rest {
            result = self.binary_values(name, result, next.clone(), (span, span), span)?;
        }
        Ok(result)
    }

    /// `cis(x)` is `Complex(cos(x), sin(x))`.
    fn cis(&mut self, angle: Value, at: Span, span: Span) -> Checked<Value> {
        let angle = self.as_scalar(angle, at)?;
        let angle = self.share(angle);
        let re = self.elementary(tessella_scalar::Intrinsic::Cos, angle.clone(), span);
        let im = self.elementary(tessella_scalar::Intrinsic::Sin, angle, span);
        Ok(Complex::new(re, im).value())
    }

    /// `real`, `imag`, `conj` and `isreal` of a real number.
    fn function_of_real(&mut self, name: &str, value: Value, at: Span, span: Span) -> Checked<Value> {
        let x = self.as_scalar(value, at)?;
        Ok(Value::Scalar(match name {
            "imag" => Expr::constant(super::zero(x.ty), span),
            "isreal" => Expr::constant(tessella_scalar::Constant::bool(true), span),
            // Zero, or pi: that of the complex number.
            "angle" => {
                let ty = crate::typed::convert::float_of(x.ty);
                let im = Expr::constant(super::zero(ty), span);
                self.number_function("atan", vec![im, crate::typed::convert::widen(x, ty)], span)?
            }
            // `real` and `conj`: the number itself.
            _ => x,
        }))
    }

    fn function_of_complex(&mut self, name: &str, z: Complex, span: Span) -> Checked<Value> {
        let scalar = |value: Checked<Expr>| value.map(Value::Scalar);
        let ty = z.half();
        match name {
            "real" => Ok(Value::Scalar(z.re)),
            "imag" => Ok(Value::Scalar(z.im)),
            "reim" => Ok(Value::Tuple(vec![Value::Scalar(z.re), Value::Scalar(z.im)])),
            "identity" => Ok(z.value()),
            "conj" | "adjoint" => {
                let im = self.unary_operator("-", z.im, span)?;
                Ok(Complex::new(z.re, im).value())
            }
            "abs2" => {
                let z = self.shared_complex(z);
                let re = self.binary_operator("*", z.re.clone(), z.re, span)?;
                let im = self.binary_operator("*", z.im.clone(), z.im, span)?;
                scalar(self.binary_operator("+", re, im, span))
            }
            "transpose" => Ok(z.value()),
            "angle" => scalar(self.number_function("atan", vec![z.im, z.re], span)),
            "exp" => self.complex_exponential(z, span),
            "abs" => scalar(self.number_function("hypot", vec![z.re, z.im], span)),
            "inv" => Ok(self.complex_inverse(z, span).value()),
            "zero" | "one" | "oneunit" => {
                let re = self.real_constant(name, ty, span)?;
                Ok(Complex { re, im: Expr::constant(super::zero(ty), span) }.value())
            }
            "float" => {
                let half = crate::typed::convert::float_of(ty);
                self.make_complex(z.value(), half, span).map(Complex::value)
            }
            "isreal" => Ok(Value::Scalar(self.half_is_zero(z.im, span))),
            "iszero" => {
                let (re, im) = (self.half_is_zero(z.re, span), self.half_is_zero(z.im, span));
                scalar(self.binary_operator("&", re, im, span))
            }
            "isnan" | "isinf" | "isfinite" => {
                let re = self.number_function(name, vec![z.re], span)?;
                let im = self.number_function(name, vec![z.im], span)?;
                scalar(self.binary_operator(if name == "isfinite" { "&" } else { "|" }, re, im, span))
            }
            _ => self.unsupported(name, span),
        }
    }

    /// `exp(z)`, with Julia's values where a half is not finite.
    fn complex_exponential(&mut self, z: Complex, span: Span) -> Checked<Value> {
        let half = crate::typed::convert::float_of(z.half());
        let z = self.make_complex(z.value(), half, span)?;
        let z = self.shared_complex(z);
        let constant = |value: f64| match half {
            ScalarType::F32 => Expr::constant(Constant::f32(value as f32), span),
            _ => Expr::constant(Constant::f64(value), span),
        };
        let scale = self.elementary(Intrinsic::Exp, z.re.clone(), span);
        let scale = self.shared_half(scale);
        let cosine = self.elementary(Intrinsic::Cos, z.im.clone(), span);
        let sine = self.elementary(Intrinsic::Sin, z.im.clone(), span);
        let is = |operator, x: &Expr, y: Expr| compare(operator, x.clone(), y, span);
        let chosen = |condition: &Expr, yes: Expr, no: Expr| if_else(condition.clone(), yes, no, span);
        // A real number stays one, the sign of its zero included.
        let is_real = self.shared_half(is(CompareOp::Eq, &z.im, constant(0.0)));
        let re = chosen(&is_real, scale.clone(), binary(BinaryOp::Mul, scale.clone(), cosine, span));
        let im = chosen(&is_real, z.im.clone(), binary(BinaryOp::Mul, scale, sine, span));
        let magnitude = intrinsic(Intrinsic::Abs, vec![z.im.clone()], half, span);
        let is_finite = self.shared_half(is(CompareOp::Lt, &magnitude, constant(f64::INFINITY)));
        let is_up = self.shared_half(is(CompareOp::Eq, &z.re, constant(f64::INFINITY)));
        let is_down = self.shared_half(is(CompareOp::Eq, &z.re, constant(f64::NEG_INFINITY)));
        let nan = || constant(f64::NAN);
        let odd_re = chosen(&is_up, constant(f64::NEG_INFINITY), chosen(&is_down, constant(-0.0), nan()));
        let zero = intrinsic(Intrinsic::CopySign, vec![constant(0.0), z.im.clone()], half, span);
        let odd_im = chosen(&is_down, zero, nan());
        let re = chosen(&is_finite, re, odd_re);
        let im = chosen(&is_finite, im, odd_im);
        let is_nan = self.shared_half(intrinsic(Intrinsic::IsNan, vec![z.re.clone()], ScalarType::Bool, span));
        let nan_im = chosen(&is_real, z.im.clone(), z.re.clone());
        let re = chosen(&is_nan, z.re.clone(), re);
        let im = chosen(&is_nan, nan_im, im);
        Ok(Complex::new(re, im).value())
    }

    /// `muladd(x, y, z)`, in the order in which Julia fuses.
    fn complex_muladd(&mut self, values: [Value; 3], spans: &[Span], span: Span) -> Checked<Value> {
        let at = |position: usize| spans.get(position).copied().unwrap_or(span);
        let [x, y, z] = values;
        // Of a real and a complex factor, the complex one comes first.
        let (x, y) = match (x, y) {
            (x @ Value::Complex(_), y) => (x, y),
            (x, y @ Value::Complex(_)) => (y, x),
            (x, y) => (x, y),
        };
        let mut shared = |value: Value| match value {
            Value::Complex(value) => self.shared_complex(*value).value(),
            Value::Scalar(value) => Value::Scalar(self.shared_half(value)),
            other => other,
        };
        let (x, y) = (shared(x), shared(y));
        let mut fused =
            |a: &Expr, b: &Expr, c: &Expr| self.number_function("muladd", vec![a.clone(), b.clone(), c.clone()], span);
        match (x, y, z) {
            (Value::Complex(x), Value::Complex(y), Value::Complex(z)) => {
                let re = fused(&x.re, &y.re, &z.re)?;
                let inner = fused(&x.im, &y.re, &z.im)?;
                let im = fused(&x.re, &y.im, &inner)?;
                let product = self.binary_operator("*", x.im, y.im, span)?;
                Ok(Complex::new(self.binary_operator("-", re, product, span)?, im).value())
            }
            (Value::Complex(x), Value::Complex(y), z) => {
                let z = self.as_scalar(z, at(2))?;
                let re = self.number_function("muladd", vec![x.re.clone(), y.re.clone(), z], span)?;
                let cross = self.binary_operator("*", x.im.clone(), y.re, span)?;
                let im = self.number_function("muladd", vec![x.re, y.im.clone(), cross], span)?;
                let product = self.binary_operator("*", x.im, y.im, span)?;
                Ok(Complex::new(self.binary_operator("-", re, product, span)?, im).value())
            }
            (Value::Complex(x), y, Value::Complex(z)) => {
                let y = self.as_scalar(y, at(1))?;
                let re = self.number_function("muladd", vec![x.re, y.clone(), z.re], span)?;
                let im = self.number_function("muladd", vec![x.im, y, z.im], span)?;
                Ok(Complex::new(re, im).value())
            }
            (Value::Complex(x), y, z) => {
                let (y, z) = self.scalar_pair(y, z, (at(1), at(2)))?;
                let re = self.number_function("muladd", vec![x.re, y.clone(), z], span)?;
                let im = self.binary_operator("*", x.im, y, span)?;
                Ok(Complex::new(re, im).value())
            }
            (x, y, Value::Complex(z)) => {
                let (x, y) = self.scalar_pair(x, y, (at(0), at(1)))?;
                let re = self.number_function("muladd", vec![x, y, z.re], span)?;
                Ok(Complex::new(re, z.im).value())
            }
            (_, _, _) => self.unsupported("muladd", span),
        }
    }
}

impl Checker<'_> {
    /// `Complex{half}(x)` and `Complex{half}(a, b)`.
    pub(in crate::typed) fn complex_of(
        &mut self,
        half: ScalarType,
        arguments: &[ast::Argument],
        broadcast: ast::Broadcast,
        span: Span,
    ) -> Checked<Value> {
        let ty = super::type_name(half);
        let plain = arguments.iter().all(|it| it.keyword.is_none() && it.section == ast::Section::Main);
        if broadcast == ast::Broadcast::Yes || !plain {
            return Err(self.complex_error(ComplexError::TypeHere { ty, span }));
        }
        match arguments {
            [value] => {
                let (value, at) = (self.value(&value.value)?, value.value.span);
                self.make_complex(value, half, at).map(Complex::value)
            }
            [re, im] => {
                let (re, im) = (self.scalar(&re.value), self.scalar(&im.value));
                let (re, im) = (self.coerce(re?, half, None), self.coerce(im?, half, None));
                Ok(Complex { re: re?, im: im? }.value())
            }
            _ => Err(self.arity(&ty, "1 or 2 arguments", arguments.len(), span)),
        }
    }
}
