//! Complex numbers: a complex value is a pair of real ones, by the definitions of Julia's `base/complex.jl`.
//!
//! None of it reaches the typed tree. A complex array is an array of halves with a leading axis of two, a complex
//! variable two variables, an assignment two assignments; both halves are computed before the first one is stored.

mod arithmetic;
mod division;
mod error;
mod functions;
mod store;

pub use error::ComplexError;
pub(super) use functions::ABOUT_COMPLEX;

use super::check::{Checked, Checker, Reported};
use super::convert::{promote, widen};
use super::error::TypeError;
use super::tree::{Expr, ExprKind, LocalId, Type};
use super::value::Value;
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{Constant, ScalarType};

/// A complex value: both halves have one type.
#[derive(Debug, Clone)]
pub(super) struct Complex {
    pub re: Expr,
    pub im: Expr,
}

/// `Complex{half}` as Julia prints it.
pub(super) fn type_name(half: ScalarType) -> String {
    match half {
        ScalarType::F64 => "ComplexF64".to_string(),
        ScalarType::F32 => "ComplexF32".to_string(),
        ScalarType::Bool
        | ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64 => format!("Complex{{{half}}}"),
    }
}

/// The half type of the aliases of Julia.
pub(super) fn half_of_name(name: &str) -> Option<ScalarType> {
    match name {
        "ComplexF64" => Some(ScalarType::F64),
        "ComplexF32" => Some(ScalarType::F32),
        _ => None,
    }
}

impl Complex {
    /// `Complex(re, im)`: the halves are promoted.
    pub(super) fn new(re: Expr, im: Expr) -> Complex {
        let ty = promote(re.ty, im.ty);
        Complex { re: widen(re, ty), im: widen(im, ty) }
    }

    /// The type of a half.
    pub(super) fn half(&self) -> ScalarType {
        self.re.ty
    }

    /// `im`, a `Complex{Bool}`.
    pub(super) fn unit(span: Span) -> Complex {
        let bool = |value| Expr::constant(Constant::bool(value), span);
        Complex { re: bool(false), im: bool(true) }
    }

    pub(super) fn value(self) -> Value {
        Value::Complex(Box::new(self))
    }
}

impl Checker<'_> {
    pub(super) fn complex_error(&mut self, error: ComplexError) -> Reported {
        self.fail(TypeError::Complex(error))
    }

    /// The value as a complex one: a real number `x` is `Complex(x, zero(x))`.
    pub(super) fn as_complex(&mut self, value: Value, span: Span) -> Checked<Complex> {
        match value {
            Value::Complex(value) => Ok(*value),
            other => {
                let re = self.as_scalar(other, span)?;
                let im = Expr::constant(zero(re.ty), span);
                Ok(Complex { re, im })
            }
        }
    }

    /// `Complex{half}(value)`.
    pub(super) fn make_complex(&mut self, value: Value, half: ScalarType, span: Span) -> Checked<Complex> {
        let Complex { re, im } = self.as_complex(value, span)?;
        let (re, im) = (self.coerce(re, half, None), self.coerce(im, half, None));
        Ok(Complex { re: re?, im: im? })
    }

    /// A value that may be used several times. Elements of arrays are read again: nothing is stored in between.
    pub(super) fn shared_complex(&mut self, value: Complex) -> Complex {
        Complex { re: self.shared_half(value.re), im: self.shared_half(value.im) }
    }

    pub(super) fn shared_half(&mut self, half: Expr) -> Expr {
        match &half.kind {
            ExprKind::Load { subscripts, .. } if subscripts.iter().all(|it| !it.reads_memory()) => half,
            _ => self.share(half),
        }
    }

    /// A value that later assignments do not change.
    pub(super) fn frozen_complex(&mut self, value: Complex) -> Complex {
        Complex { re: self.frozen_scalar(value.re), im: self.frozen_scalar(value.im) }
    }

    /// The half type of `Complex{T}` where the expression is such a type, `None` where it is something else.
    pub(super) fn complex_type(&mut self, expr: &ast::Expr) -> Checked<Option<ScalarType>> {
        match &expr.kind {
            ast::ExprKind::Curly { base, parameters } => match (&base.kind, parameters.as_slice()) {
                (ast::ExprKind::Name(name), [half]) if name == "Complex" => self.type_expression(half).map(Some),
                (_, _) => Ok(None),
            },
            ast::ExprKind::Name(name) => self.complex_type_named(name, expr.span),
            ast::ExprKind::Call { callee, .. } => match self.library_name(callee) {
                Some("eltype" | "typeof" | "complex") => Ok(match self.value(expr)? {
                    Value::ComplexType(half) => Some(half),
                    _ => None,
                }),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    pub(super) fn complex_type_named(&mut self, name: &str, span: Span) -> Checked<Option<ScalarType>> {
        if let Some(variable) = self.lookup(name) {
            return Ok(match self.variables[variable.0].state {
                super::scope::State::Alias(Value::ComplexType(half)) => Some(half),
                _ => None,
            });
        }
        if self.type_parameters.contains_key(name) {
            return match self.type_parameter_value(name, span) {
                Some(Ok(Value::ComplexType(half))) => Ok(Some(half)),
                Some(Ok(_)) | None => Ok(None),
                Some(Err(reported)) => Err(reported),
            };
        }
        if let Some(constant) = self.constants.iter().find(|constant| constant.name == name)
            && let ast::ExprKind::Name(of) = &constant.value.kind
        {
            return Ok(half_of_name(of));
        }
        Ok(half_of_name(name))
    }

    /// The type of a complex array's halves.
    pub(super) fn half_type(&self, array: LocalId) -> ScalarType {
        let (Type::Array { element, .. } | Type::Scalar(element)) = self.local(array).ty;
        element
    }
}

pub(super) fn zero(ty: ScalarType) -> Constant {
    match ty {
        ScalarType::F64 => Constant::f64(0.0),
        ScalarType::F32 => Constant::f32(0.0),
        ScalarType::Bool
        | ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64 => Constant::integer(ty, 0),
    }
}
