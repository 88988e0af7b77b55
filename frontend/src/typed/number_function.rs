//! Functions of numbers: `abs`, `min`, `clamp`, `muladd`, ..., and operators called as functions.

use super::call::{DIVISIONS, ELEMENTARY, ROUNDING};
use super::check::{Checked, Checker};
use super::convert::{float_of, promote, signed, unsigned, widen};
use super::error::TypeError;
use super::operator::{binary, if_else, intrinsic, unary};
use super::tree::Expr;
use super::value::Kind;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Constant, Intrinsic, ScalarType, UnaryOp};

impl Checker<'_> {
    pub(super) fn operator_call(&mut self, name: &str, arguments: Vec<Expr>, span: Span) -> Checked<Expr> {
        let given = arguments.len();
        let mut arguments = arguments.into_iter();
        match (arguments.next(), arguments.next(), given) {
            (Some(only), None, _) if matches!(name, "+" | "-" | "!" | "~") => self.unary_operator(name, only, span),
            (Some(left), Some(right), 2) => match super::compare::operator_of(name) {
                Some(operator) => Ok(self.compare_exactly(operator, left, right, span)),
                None if name == "^" => self.power_of(left, right, false, span),
                None => self.binary_operator(name, left, right, span),
            },
            (Some(left), Some(right), _) if matches!(name, "+" | "*" | "&" | "|" | "⊻") => {
                let mut result = self.binary_operator(name, left, right, span)?;
                for next in arguments {
                    result = self.binary_operator(name, result, next, span)?;
                }
                Ok(result)
            }
            (_, _, _) => Err(self.arity(name, "2 arguments", given, span)),
        }
    }

    pub(super) fn number_function(&mut self, name: &str, arguments: Vec<Expr>, span: Span) -> Checked<Expr> {
        let given = arguments.len();
        let mut rest = arguments.into_iter();
        match (rest.next(), rest.next(), rest.next(), rest.next()) {
            (Some(x), None, _, _) => self.function_of_one(name, x, span),
            (Some(x), Some(y), None, _) => self.function_of_two(name, x, y, span),
            (Some(x), Some(y), Some(z), None) => match name {
                "min" | "max" => {
                    let first = self.function_of_two(name, x, y, span)?;
                    self.function_of_two(name, first, z, span)
                }
                _ => self.function_of_three(name, x, y, z, span),
            },
            (Some(x), Some(y), Some(z), Some(w)) if matches!(name, "min" | "max") => {
                let mut result = self.function_of_two(name, x, y, span)?;
                for next in [z, w].into_iter().chain(rest) {
                    result = self.function_of_two(name, result, next, span)?;
                }
                Ok(result)
            }
            (_, _, _, _) => Err(self.arity(name, "fewer arguments", given, span)),
        }
    }

    fn function_of_one(&mut self, name: &str, x: Expr, span: Span) -> Checked<Expr> {
        let ty = x.ty;
        if let Some(&(_, function)) = ELEMENTARY.iter().find(|(known, _)| *known == name) {
            return Ok(self.elementary(function, x, span));
        }
        if let Some(&(_, function)) = ROUNDING.iter().find(|(known, _)| *known == name) {
            return match ty {
                ScalarType::F32 | ScalarType::F64 => Ok(intrinsic(function, vec![x], ty, span)),
                ScalarType::Bool => Err(self.no_function(name, &[ty], span)),
                _ => Ok(x),
            };
        }
        if let Some(value) = self.base_of_one(name, x.clone(), span) {
            return value;
        }
        let number = |value: i128| Expr::constant(Constant::integer(ty, value), span);
        if name == "exp10" {
            let ty = float_of(ty);
            let ten = Expr::constant(Constant::integer(ty, 10), span);
            return Ok(intrinsic(Intrinsic::Pow, vec![ten, widen(x, ty)], ty, span));
        }
        let constant = |value: bool| Ok(Expr::constant(Constant::bool(value), span));
        let is_signed = ty.is_float() || ty.is_signed_integer();
        match name {
            "abs" if is_signed => Ok(intrinsic(Intrinsic::Abs, vec![x], ty, span)),
            "abs" | "identity" => Ok(x),
            "abs2" if ty != ScalarType::Bool => {
                let x = self.share(x);
                Ok(binary(BinaryOp::Mul, x.clone(), x, span))
            }
            "sign" if is_signed => Ok(intrinsic(Intrinsic::Sign, vec![x], ty, span)),
            "sign" if ty == ScalarType::Bool => Ok(x),
            "sign" => {
                let is_positive = super::compare::compare(CompareOp::Gt, x, number(0), span);
                Ok(if_else(is_positive, number(1), number(0), span))
            }
            "signbit" if ty.is_signed_integer() => Ok(super::compare::compare(CompareOp::Lt, x, number(0), span)),
            "signbit" if !ty.is_float() => constant(false),
            "signbit" => {
                // The sign of a zero or `NaN` shows in a number that it is copied to.
                let signed = intrinsic(Intrinsic::CopySign, vec![number(1), x], ty, span);
                Ok(super::compare::compare(CompareOp::Lt, signed, number(0), span))
            }
            "inv" => {
                let ty = float_of(ty);
                let one = Expr::constant(Constant::integer(ty, 1), span);
                Ok(binary(BinaryOp::Div, one, widen(x, ty), span))
            }
            "unsigned" if ty.is_integer() => Ok(widen(x, unsigned(ty))),
            "signed" if ty.is_integer() => Ok(widen(x, signed(ty))),
            "isnan" if ty.is_float() => Ok(intrinsic(Intrinsic::IsNan, vec![x], ScalarType::Bool, span)),
            "isnan" | "isinf" if !ty.is_float() => constant(false),
            "isfinite" if !ty.is_float() => constant(true),
            "isinf" | "isfinite" => {
                let infinity = match ty {
                    ScalarType::F32 => Constant::f32(f32::INFINITY),
                    _ => Constant::f64(f64::INFINITY),
                };
                let operator = if name == "isinf" { CompareOp::Eq } else { CompareOp::Lt };
                let magnitude = intrinsic(Intrinsic::Abs, vec![x], ty, span);
                Ok(super::compare::compare(operator, magnitude, Expr::constant(infinity, span), span))
            }
            "iszero" if ty == ScalarType::Bool => Ok(unary(UnaryOp::Not, x, span)),
            "isone" if ty == ScalarType::Bool => Ok(x),
            "iszero" => Ok(super::compare::compare(CompareOp::Eq, x, number(0), span)),
            "isone" => Ok(super::compare::compare(CompareOp::Eq, x, number(1), span)),
            "iseven" | "isodd" if ty.is_integer() => {
                let rest = binary(BinaryOp::Rem, x, number(2), span);
                let operator = if name == "iseven" { CompareOp::Eq } else { CompareOp::Ne };
                Ok(super::compare::compare(operator, rest, number(0), span))
            }
            "min" | "max" => Ok(x),
            _ => Err(self.no_function(name, &[ty], span)),
        }
    }

    fn no_function(&mut self, name: &str, types: &[ScalarType], span: Span) -> super::check::Reported {
        let operands = types.iter().map(|ty| Kind::Scalar(*ty).to_string()).collect::<Vec<_>>().join(" and ");
        self.fail(TypeError::NoMethod { operator: name.into(), operands, span, help: None })
    }

    fn function_of_two(&mut self, name: &str, x: Expr, y: Expr, span: Span) -> Checked<Expr> {
        if let Some(&(_, operator)) = DIVISIONS.iter().find(|(known, _)| *known == name) {
            return self.division(operator, name, x, y, span);
        }
        if let Some(value) = self.base_of_two(name, x.clone(), y.clone(), span) {
            return value;
        }
        match name {
            "xor" => self.binary_operator("⊻", x, y, span),
            "min" | "max" => {
                let (x, y) = self.promoted(x, y)?;
                let operator = match (name, x.ty) {
                    ("min", ScalarType::Bool) => BinaryOp::BitAnd,
                    (_, ScalarType::Bool) => BinaryOp::BitOr,
                    ("min", _) => BinaryOp::Min,
                    (_, _) => BinaryOp::Max,
                };
                Ok(binary(operator, x, y, span))
            }
            "atan" | "hypot" => {
                let ty = float_of(promote(x.ty, y.ty));
                let function = if name == "atan" { Intrinsic::Atan2 } else { Intrinsic::Hypot };
                Ok(intrinsic(function, vec![widen(x, ty), widen(y, ty)], ty, span))
            }
            "copysign" if x.ty.is_float() => {
                let ty = x.ty;
                Ok(intrinsic(Intrinsic::CopySign, vec![x, widen(y, ty)], ty, span))
            }
            _ => Err(self.no_function(name, &[x.ty, y.ty], span)),
        }
    }

    fn function_of_three(&mut self, name: &str, x: Expr, y: Expr, z: Expr, span: Span) -> Checked<Expr> {
        let ty = promote(promote(x.ty, y.ty), z.ty);
        match name {
            "ifelse" => {
                if x.ty != ScalarType::Bool {
                    return Err(self.fail(TypeError::NotACondition { found: Kind::Scalar(x.ty), span: x.span }));
                }
                self.same_types(&y, &z)?;
                Ok(if_else(x, y, z, span))
            }
            "clamp" => {
                let x = self.share(x);
                let (low, high) = (self.share(y), self.share(z));
                let above = self.compare_exactly(CompareOp::Gt, x.clone(), high.clone(), span);
                let below = self.compare_exactly(CompareOp::Lt, x.clone(), low.clone(), span);
                let x = self.coerce(x, ty, None);
                let (low, high) = (self.coerce(low, ty, None), self.coerce(high, ty, None));
                let inner = if_else(below, low?, x?, span);
                Ok(if_else(above, high?, inner, span))
            }
            "muladd" | "fma" if ty.is_float() => {
                let function = if name == "fma" { Intrinsic::Fma } else { Intrinsic::MulAdd };
                Ok(intrinsic(function, vec![widen(x, ty), widen(y, ty), widen(z, ty)], ty, span))
            }
            "muladd" | "fma" => {
                let product = self.binary_operator("*", x, y, span)?;
                self.binary_operator("+", product, z, span)
            }
            _ => Err(self.no_function(name, &[x.ty, y.ty, z.ty], span)),
        }
    }
}
