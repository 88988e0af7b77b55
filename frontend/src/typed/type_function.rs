//! Functions that take or give types: `zero(T)`, `convert(T, x)`, `typemax(T)`.

use super::check::{Checked, Checker};
use super::complex::Complex;
use super::convert::{convert_constant, float_of, promote, widen};
use super::error::TypeError;
use super::scope::State;
use super::tree::{Expr, ExprKind};
use super::unsupported::Construct;
use super::value::Value;
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{Constant, ScalarType};

impl Checker<'_> {
    /// Functions that take types: `zero(T)`, `convert(T, x)`, `typemax(T)`.
    pub(super) fn type_function(&mut self, name: &str, arguments: &[&ast::Expr], span: Span) -> Option<Checked<Value>> {
        if self.lookup(name).is_some() {
            return None;
        }
        Some(match (name, arguments) {
            ("eps" | "floatmin" | "floatmax", []) => self.type_constant(name, ScalarType::F64, span),
            (
                "zero" | "one" | "oneunit" | "typemin" | "typemax" | "eps" | "floatmin" | "floatmax" | "float",
                [argument],
            ) => {
                match self.value(argument) {
                    Ok(Value::Type(ty)) if name == "float" => Ok(Value::Type(float_of(ty))),
                    Ok(Value::Type(ty)) => self.type_constant(name, ty, span),
                    Ok(Value::ComplexType(half)) if matches!(name, "zero" | "one" | "oneunit") => {
                        let re = self.type_constant(name, half, span);
                        re.and_then(|re| self.make_complex(re, half, span)).map(Complex::value)
                    }
                    Ok(value @ Value::Complex(_)) => {
                        let function = self.complex_function(name, &[value], &[argument.span], span);
                        function.unwrap_or_else(|| self.not_yet(Construct::Complex, span))
                    }
                    Ok(Value::Array(_)) => self.not_yet(Construct::LocalArray, span),
                    Ok(Value::Scalar(value)) if name == "float" => {
                        let ty = float_of(value.ty);
                        Ok(Value::Scalar(widen(value, ty)))
                    }
                    Ok(Value::Irrational(value, at)) if name == "float" => {
                        Ok(Value::Scalar(Expr::constant(Constant::f64(value), at)))
                    }
                    // `zero(x)` has the type of `x` and does not need its value, but evaluates it.
                    Ok(Value::Scalar(value)) if name != "eps" => {
                        let ty = value.ty;
                        self.keep_reads(&Value::Scalar(value)).and_then(|()| self.type_constant(name, ty, span))
                    }
                    Ok(other) => {
                        let operands = self.kind(&other).to_string();
                        let help = (name == "eps")
                            .then_some("write `eps(typeof(x)) * abs(x)` for the distance of floats near `x`");
                        Err(self.fail(TypeError::NoMethod { operator: name.into(), operands, span, help }))
                    }
                    Err(reported) => Err(reported),
                }
            }
            ("convert" | "unsafe_trunc" | "round" | "trunc" | "floor" | "ceil" | "rem" | "mod", [ty, value])
                if self.names_type(ty) || name == "convert" || name == "unsafe_trunc" =>
            {
                let ty = self.type_expression(ty);
                let value = self.scalar(value);
                self.convert_function(name, ty, value, span)
            }
            ("rem" | "mod", [value, ty]) if self.names_type(ty) => {
                let value = self.scalar(value);
                match (self.type_expression(ty), value) {
                    (Ok(ty), Ok(value)) => self.low_bits(value, ty, span).map(Value::Scalar),
                    (_, _) => Err(super::check::Reported),
                }
            }
            ("oftype", [like, value]) => {
                let (like, value) = (self.scalar(like), self.scalar(value));
                match (like, value) {
                    (Ok(like), Ok(value)) => {
                        let ty = like.ty;
                        let kept = self.keep_reads(&Value::Scalar(like));
                        kept.and_then(|()| self.coerce(value, ty, None)).map(Value::Scalar)
                    }
                    (_, _) => Err(super::check::Reported),
                }
            }
            ("typeof", [value]) => self.value(value).and_then(|found| {
                self.keep_reads(&found)?;
                match found {
                    Value::Complex(found) => Ok(Value::ComplexType(found.half())),
                    found => self.as_scalar(found, value.span).map(|value| Value::Type(value.ty)),
                }
            }),
            ("promote_type", [a, b]) => {
                let (a, b) = (self.type_expression(a), self.type_expression(b));
                match (a, b) {
                    (Ok(a), Ok(b)) => Ok(Value::Type(promote(a, b))),
                    (_, _) => Err(super::check::Reported),
                }
            }
            ("OneTo", [stop]) => self.scalar(stop).and_then(|stop| {
                let stop = self.coerce(stop, ScalarType::I64, None)?;
                Ok(self.one_to(stop, span))
            }),
            (_, _) => return None,
        })
    }

    /// Whether an argument is a type, without reporting anything about it.
    pub(super) fn names_type(&mut self, argument: &ast::Expr) -> bool {
        match &argument.kind {
            ast::ExprKind::Name(name) => match self.lookup(name) {
                Some(variable) => {
                    matches!(self.variables[variable.0].state, State::Alias(Value::Type(_) | Value::ComplexType(_)))
                }
                None => {
                    let parameter = self.type_parameters.contains_key(name);
                    let constant = self.constants.iter().find(|constant| constant.name == *name);
                    let alias = constant.is_some_and(|constant| {
                        matches!(&constant.value.kind, ast::ExprKind::Name(of) if ScalarType::from_julia_name(of).is_some())
                    });
                    let complex = super::complex::half_of_name(name).is_some();
                    parameter || alias || complex || ScalarType::from_julia_name(name).is_some()
                }
            },
            ast::ExprKind::Call { callee, arguments, .. } => match (self.library_name(callee), arguments.as_slice()) {
                (Some("float"), [of]) => self.names_type(&of.value),
                (Some(name), _) => matches!(name, "eltype" | "typeof" | "promote_type"),
                (None, _) => false,
            },
            ast::ExprKind::Curly { base, .. } => matches!(&base.kind, ast::ExprKind::Name(name) if name == "Complex"),
            _ => false,
        }
    }

    pub(super) fn convert_function(
        &mut self,
        name: &str,
        ty: Checked<ScalarType>,
        value: Checked<Expr>,
        span: Span,
    ) -> Checked<Value> {
        let (ty, value) = (ty?, value?);
        match name {
            "convert" => self.coerce(value, ty, None).map(Value::Scalar),
            "unsafe_trunc" if ty.is_integer() && value.ty.is_float() => {
                let truncated =
                    value.as_constant().and_then(Constant::as_float).map(|value| Constant::f64(value.trunc()));
                if let Some(constant) = truncated.and_then(|constant| convert_constant(constant, ty)) {
                    return Ok(Value::Scalar(Expr::constant(constant, span)));
                }
                Ok(Value::Scalar(Expr { ty, span, kind: ExprKind::Wrap(Box::new(value)) }))
            }
            "unsafe_trunc" => self.low_bits(value, ty, span).map(Value::Scalar),
            "round" | "trunc" | "floor" | "ceil" if !value.ty.is_float() || ty.is_float() => {
                let rounded = self.number_function(name, vec![value], span)?;
                self.coerce(rounded, ty, None).map(Value::Scalar)
            }
            "round" | "trunc" | "floor" | "ceil" if self.open_constants.is_empty() => {
                let rounded = self.number_function(name, vec![value], span)?;
                self.truncated(rounded, ty, None, &format!("trunc({ty}, x)"), span).map(Value::Scalar)
            }
            _ => Err(self.fail(TypeError::Inexact { from: value.ty, to: ty, span, target: None })),
        }
    }

    pub(super) fn type_constant(&mut self, name: &str, ty: ScalarType, span: Span) -> Checked<Value> {
        let float = |wide: f64, narrow: f32| match ty {
            ScalarType::F32 => Constant::f32(narrow),
            _ => Constant::f64(wide),
        };
        let constant = match (name, ty.is_float()) {
            ("zero", true) => float(0.0, 0.0),
            ("one" | "oneunit", true) => float(1.0, 1.0),
            ("typemin", true) => float(f64::NEG_INFINITY, f32::NEG_INFINITY),
            ("typemax", true) => float(f64::INFINITY, f32::INFINITY),
            ("eps", true) => float(f64::EPSILON, f32::EPSILON),
            ("floatmin", true) => float(f64::MIN_POSITIVE, f32::MIN_POSITIVE),
            ("floatmax", true) => float(f64::MAX, f32::MAX),
            ("zero", false) => Constant::integer(ty, 0),
            ("one" | "oneunit", false) => Constant::integer(ty, 1),
            ("typemin", false) => Constant::integer(ty, ty.integer_limits().0),
            ("typemax", false) => Constant::integer(ty, ty.integer_limits().1),
            (_, _) => {
                let operands = format!("the type `{ty}`");
                return Err(self.fail(TypeError::NoMethod { operator: name.into(), operands, span, help: None }));
            }
        };
        Ok(Value::Scalar(Expr::constant(constant, span)))
    }
}
