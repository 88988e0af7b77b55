//! Functions of numbers that give several: `divrem`, `sincos`; and those that are made of others: `mod1`, `evalpoly`.

use super::check::{Checked, Checker};
use super::compare::compare;
use super::convert::{promote, widen};
use super::error::TypeError;
use super::operator::{if_else, intrinsic};
use super::tree::Expr;
use super::value::{Kind, Value};
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Constant, Intrinsic, ScalarType};

pub(super) const SEVERAL: [&str; 9] =
    ["divrem", "fldmod", "fldmod1", "mod1", "fld1", "minmax", "sincos", "evalpoly", "reim"];

impl Checker<'_> {
    /// A call of one of [`SEVERAL`]; `None` for any other.
    pub(super) fn several(&mut self, name: &str, arguments: &[ast::Argument], span: Span) -> Option<Checked<Value>> {
        if !SEVERAL.contains(&name) || self.lookup(name).is_some() {
            return None;
        }
        if arguments.iter().any(|it| it.keyword.is_some() || matches!(it.value.kind, ast::ExprKind::Splat(_))) {
            return None;
        }
        let values: Vec<&ast::Expr> = arguments.iter().map(|argument| &argument.value).collect();
        Some(match (name, values.as_slice()) {
            ("sincos", [x]) => self.sincos(x, span),
            ("evalpoly", [x, coefficients]) => self.value(coefficients).and_then(|coefficients| match coefficients {
                Value::Tuple(coefficients) => self.polynomial(x, coefficients, span),
                other => {
                    let operands = format!("{} of coefficients", self.kind(&other));
                    let help = Some("write the coefficients as a tuple");
                    Err(self.fail(TypeError::NoMethod { operator: name.into(), operands, span, help }))
                }
            }),
            ("divrem" | "fldmod" | "fldmod1" | "mod1" | "fld1", [x, y]) => {
                let (x, y) = (self.scalar(x), self.scalar(y));
                match (x, y) {
                    (Ok(x), Ok(y)) => self.quotients(name, x, y, span),
                    (_, _) => Err(super::check::Reported),
                }
            }
            ("minmax", [x, y]) => match (self.scalar(x), self.scalar(y)) {
                (Ok(x), Ok(y)) => {
                    let (x, y) = (self.share(x), self.share(y));
                    let least = self.number_function("min", vec![x.clone(), y.clone()], span);
                    let most = self.number_function("max", vec![x, y], span);
                    least.and_then(|least| Ok(Value::Tuple(vec![Value::Scalar(least), Value::Scalar(most?)])))
                }
                (_, _) => Err(super::check::Reported),
            },
            ("sincos", _) => Err(self.arity(name, "1 argument", values.len(), span)),
            ("reim", [z]) => self
                .value(z)
                .and_then(|value| self.as_complex(value, z.span))
                .map(|z| Value::Tuple(vec![Value::Scalar(z.re), Value::Scalar(z.im)])),
            ("reim", _) => Err(self.arity(name, "1 argument", values.len(), span)),
            (_, _) => Err(self.arity(name, "2 arguments", values.len(), span)),
        })
    }

    fn sincos(&mut self, x: &ast::Expr, span: Span) -> Checked<Value> {
        let x = self.scalar(x)?;
        let x = self.share(x);
        let sine = self.elementary(Intrinsic::Sin, x.clone(), span);
        let cosine = self.elementary(Intrinsic::Cos, x, span);
        Ok(Value::Tuple(vec![Value::Scalar(sine), Value::Scalar(cosine)]))
    }

    fn quotients(&mut self, name: &str, x: Expr, y: Expr, span: Span) -> Checked<Value> {
        let (x, y) = (self.share(x), self.share(y));
        let scalar = |value: Checked<Expr>| value.map(Value::Scalar);
        Ok(match name {
            "mod1" => Value::Scalar(self.mod1(x, y, span)?),
            "fld1" => Value::Scalar(self.fld1(x, y, span)?),
            "divrem" => {
                let quotient = self.division(BinaryOp::DivTrunc, name, x.clone(), y.clone(), span);
                let rest = self.division(BinaryOp::Rem, name, x, y, span);
                Value::Tuple(vec![scalar(quotient)?, scalar(rest)?])
            }
            "fldmod" => {
                let quotient = self.division(BinaryOp::DivFloor, name, x.clone(), y.clone(), span);
                let rest = self.division(BinaryOp::Mod, name, x, y, span);
                Value::Tuple(vec![scalar(quotient)?, scalar(rest)?])
            }
            _ => {
                let quotient = self.fld1(x.clone(), y.clone(), span);
                let rest = self.mod1(x, y, span);
                Value::Tuple(vec![scalar(quotient)?, scalar(rest)?])
            }
        })
    }

    /// `mod(x, y)`, with `y` in place of zero.
    fn mod1(&mut self, x: Expr, y: Expr, span: Span) -> Checked<Expr> {
        let rest = self.division(BinaryOp::Mod, "mod1", x, y.clone(), span)?;
        let rest = self.share(rest);
        let zero = Expr::constant(Constant::integer(rest.ty, 0), span);
        let is_zero = compare(CompareOp::Eq, rest.clone(), zero, span);
        let y = widen(y, rest.ty);
        Ok(if_else(is_zero, y, rest, span))
    }

    /// Of integers: the quotient that goes with `mod1`, rounded up.
    fn fld1(&mut self, x: Expr, y: Expr, span: Span) -> Checked<Expr> {
        if x.ty.is_float() || y.ty.is_float() {
            let operands = format!("{} and {}", Kind::Scalar(x.ty), Kind::Scalar(y.ty));
            let help =
                Some("write `fld(x + y - mod1(x, y), y)`, or `cld(x, y)`: versions of Julia round it differently");
            return Err(self.fail(TypeError::NoMethod { operator: "fld1".into(), operands, span, help }));
        }
        self.division(BinaryOp::DivCeil, "fld1", x, y, span)
    }

    /// `@evalpoly(x, c0, c1, ...)`.
    pub(super) fn evalpoly_macro(&mut self, arguments: &[ast::Expr], span: Span) -> Checked<Value> {
        let Some((x, coefficients)) = arguments.split_first() else {
            return Err(self.arity("@evalpoly", "a number and its coefficients", 0, span));
        };
        let coefficients: Vec<Checked<Value>> = coefficients.iter().map(|it| self.value(it)).collect();
        let coefficients = coefficients.into_iter().collect::<Checked<Vec<Value>>>()?;
        self.polynomial(x, coefficients, span)
    }

    /// Horner's rule with `muladd`, as Julia has it.
    fn polynomial(&mut self, x: &ast::Expr, coefficients: Vec<Value>, span: Span) -> Checked<Value> {
        let x = self.scalar(x)?;
        let x = self.share(x);
        let mut coefficients = coefficients.into_iter().rev();
        let Some(highest) = coefficients.next() else {
            return Err(self.arity("evalpoly", "at least one coefficient", 0, span));
        };
        let mut result = self.as_scalar(highest, span)?;
        for coefficient in coefficients {
            let coefficient = self.as_scalar(coefficient, span)?;
            let ty = promote(promote(x.ty, result.ty), coefficient.ty);
            result = match ty {
                ScalarType::F32 | ScalarType::F64 => {
                    let operands = [x.clone(), result, coefficient].map(|operand| widen(operand, ty));
                    intrinsic(Intrinsic::MulAdd, operands.into(), ty, span)
                }
                _ => {
                    let product = self.binary_operator("*", x.clone(), result, span)?;
                    self.binary_operator("+", product, coefficient, span)?
                }
            };
        }
        Ok(Value::Scalar(result))
    }
}
