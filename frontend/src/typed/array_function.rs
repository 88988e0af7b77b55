//! Functions of arrays and ranges: `size`, `length`, `axes`, `eachindex`, `first`, `reverse`, ...

use super::arrays::{Elements, clamped, is_axis};
use super::call::ON_ARRAYS;
use super::check::{Checked, Checker};
use super::error::TypeError;
use super::operator::binary;
use super::tree::{Expr, ExprKind, Type};
use super::unsupported::Construct;
use super::value::{Kind, RangeValue, Value};
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, Constant, ScalarType};

impl Checker<'_> {
    pub(super) fn array_function(
        &mut self,
        name: &str,
        arguments: &[&ast::Expr],
        span: Span,
    ) -> Option<Checked<Value>> {
        if !ON_ARRAYS.contains(&name) {
            return None;
        }
        let value = match (name, arguments) {
            ("eltype", [argument]) => return Some(self.element_type(argument)),
            ("length", [argument]) => return Some(self.length_of(argument, span)),
            ("lastindex" | "firstindex", [argument]) => return Some(self.end_index(name, argument, span)),
            ("isempty", [argument]) => return Some(self.is_empty(argument, span)),
            ("axes" | "eachindex", [argument]) => {
                self.axes_of(argument, name, span).and_then(|axes| match (name, axes.as_slice()) {
                    ("axes", _) => Ok(Value::Tuple(axes.into_iter().map(Value::Range).collect())),
                    (_, [axis]) => Ok(Value::Range(axis.clone())),
                    (_, _) => self.not_yet(Construct::LinearIndex, span),
                })
            }
            ("ndims" | "size", [argument]) => self.sizes_of(argument, name, span).map(|sizes| match name {
                "ndims" => Value::Scalar(Expr::int64(sizes.len() as i64, span)),
                _ => Value::Tuple(sizes.into_iter().map(Value::Scalar).collect()),
            }),
            ("size", [argument, axis]) => {
                let sizes = self.sizes_of(argument, name, span);
                let axis = self.axis_argument(axis);
                sizes.and_then(|sizes| {
                    let size = sizes.get(axis? as usize).cloned().unwrap_or_else(|| Expr::int64(1, span));
                    Ok(Value::Scalar(size))
                })
            }
            ("axes" | "lastindex" | "firstindex", [argument, axis]) => {
                let axes = self.axes_of(argument, name, span);
                let axis = self.axis_argument(axis);
                axes.and_then(|axes| {
                    let one = || Expr::int64(1, span);
                    let only = || RangeValue { start: one(), step: 1, stop: one() };
                    let range = axes.get(axis? as usize).cloned().unwrap_or_else(only);
                    Ok(match name {
                        "axes" => Value::Range(range),
                        "firstindex" => Value::Scalar(range.start),
                        _ => Value::Scalar(range.stop),
                    })
                })
            }
            ("eachindex", _) => self.not_yet(Construct::LinearIndex, span),
            ("length" | "ndims" | "isempty" | "eltype", [array, dimension]) => {
                let instead = match (&array.kind, &dimension.kind) {
                    (ast::ExprKind::Name(array), ast::ExprKind::Integer(axis) | ast::ExprKind::Name(axis)) => {
                        format!("size({array}, {axis})")
                    }
                    (_, _) => "size(A, k)".to_owned(),
                };
                Err(self.fail(TypeError::TakesArray { name: name.into(), instead, span }))
            }
            (_, _) => Err(self.arity(name, "an array, or an array and a dimension", arguments.len(), span)),
        };
        Some(value)
    }

    fn element_type(&mut self, argument: &ast::Expr) -> Checked<Value> {
        match self.value(argument)? {
            Value::Type(ty) => Ok(Value::Type(ty)),
            Value::Scalar(expr) => Ok(Value::Type(expr.ty)),
            Value::Range(_) => Ok(Value::Type(ScalarType::I64)),
            Value::ComplexType(half) => Ok(Value::ComplexType(half)),
            Value::Complex(value) => Ok(Value::ComplexType(value.half())),
            Value::ComplexArray(array) => Ok(Value::ComplexType(self.half_type(array))),
            Value::Elements(elements) => Ok(match elements.numbers {
                super::arrays::Numbers::Real => Value::Type(elements.element),
                super::arrays::Numbers::Complex => Value::ComplexType(elements.element),
            }),
            Value::Array(array) => match self.local(array).ty {
                Type::Array { element, .. } | Type::Scalar(element) => Ok(Value::Type(element)),
            },
            other => {
                let operands = self.kind(&other).to_string();
                let error =
                    TypeError::NoMethod { operator: "eltype".into(), operands, span: argument.span, help: None };
                Err(self.fail(error))
            }
        }
    }

    fn length_of(&mut self, argument: &ast::Expr, span: Span) -> Checked<Value> {
        match self.value(argument)? {
            value @ (Value::Array(_) | Value::ComplexArray(_) | Value::Elements(_)) => {
                let sizes = self.sizes(&value, span).expect("arrays have sizes");
                Ok(Value::Scalar(self.product_of(&sizes, span)))
            }
            Value::Tuple(values) | Value::Named(_, values) => Ok(Value::Scalar(Expr::int64(values.len() as i64, span))),
            // `length(a:b)` is `max(b - a + 1, 0)`.
            Value::Range(RangeValue { start, step: 1, stop }) => {
                let one = Expr::int64(1, span);
                let length = if start.as_constant() == Some(Constant::i64(1)) {
                    stop
                } else {
                    binary(BinaryOp::Add, binary(BinaryOp::Sub, stop, start, span), one, span)
                };
                if matches!(length.kind, ExprKind::Size { .. }) {
                    return Ok(Value::Scalar(length));
                }
                Ok(Value::Scalar(binary(BinaryOp::Max, length, Expr::int64(0, span), span)))
            }
            other => {
                let operands = self.kind(&other).to_string();
                let help = Some("pass an array");
                Err(self.fail(TypeError::NoMethod { operator: "length".into(), operands, span: argument.span, help }))
            }
        }
    }

    /// `isempty(x)`.
    fn is_empty(&mut self, argument: &ast::Expr, span: Span) -> Checked<Value> {
        let extents = match self.value(argument)? {
            Value::Array(_) | Value::Elements(_) | Value::ComplexArray(_) => {
                self.sizes_of(argument, "isempty", span)?
            }
            _ => match self.length_of(argument, span)? {
                Value::Scalar(length) => vec![length],
                other => return Ok(other),
            },
        };
        let empty = extents
            .into_iter()
            .map(|extent| super::compare::compare(tessella_scalar::CompareOp::Eq, extent, Expr::int64(0, span), span));
        let either = |a: Expr, b: Expr| binary(BinaryOp::OrElse, a, b, span);
        let none = || Expr::constant(Constant::bool(false), span);
        Ok(Value::Scalar(empty.reduce(either).unwrap_or_else(none)))
    }

    fn end_index(&mut self, name: &str, argument: &ast::Expr, span: Span) -> Checked<Value> {
        if let Value::Tuple(values) = self.value(argument)? {
            let end = if name == "firstindex" { 1 } else { values.len() as i64 };
            return Ok(Value::Scalar(Expr::int64(end, span)));
        }
        let elements = self.elements_of(argument, name, span)?;
        Ok(Value::Scalar(match (name, elements.rank()) {
            ("firstindex", 1) => self.axis_range(&elements, 0).start,
            // A linear index counts from 1.
            ("firstindex", _) => Expr::int64(1, span),
            (_, 1) => self.axis_range(&elements, 0).stop,
            (_, _) => self.product_of(&elements.extents, span),
        }))
    }

    /// The axes of the array that an argument of `axes`, `eachindex`, ... is.
    fn axes_of(&mut self, argument: &ast::Expr, function: &str, span: Span) -> Checked<Vec<RangeValue>> {
        if let Value::Tuple(values) = self.value(argument)? {
            let (start, stop) = (Expr::int64(1, span), Expr::int64(values.len() as i64, span));
            return Ok(vec![RangeValue { start, step: 1, stop }]);
        }
        let elements = self.elements_of(argument, function, span)?;
        Ok((0..elements.rank()).map(|axis| self.axis_range(&elements, axis)).collect())
    }

    /// The sizes of the array that an argument of `size`, `ndims`, ... is.
    fn sizes_of(&mut self, argument: &ast::Expr, function: &str, span: Span) -> Checked<Vec<Expr>> {
        let elements = self.elements_of(argument, function, span)?;
        Ok(elements.extents.into_iter().map(|extent| clamped(extent.placed(span))).collect())
    }

    /// The argument as elements of which only the places matter.
    fn elements_of(&mut self, argument: &ast::Expr, function: &str, span: Span) -> Checked<Elements> {
        let value = self.value(argument)?;
        let elements = self.as_elements(&value, span);
        elements.ok_or_else(|| {
            let (operator, operands) = (function.to_string(), self.kind(&value).to_string());
            let help = Some("pass an array");
            self.fail(TypeError::NoMethod { operator, operands, span: argument.span, help })
        })
    }

    /// `first(r)`, `last(r)`, `step(r)`, `reverse(r)`.
    pub(super) fn range_function(&mut self, name: &str, range: RangeValue, span: Span) -> Checked<Value> {
        let is_axis = is_axis(&range);
        let RangeValue { start, step, stop } = range;
        let is_whole =
            is_axis || matches!(stop.kind, ExprKind::Size { .. }) && start.as_constant() == Some(Constant::i64(1));
        match name {
            "first" => Ok(Value::Scalar(start)),
            "step" => Ok(Value::Scalar(Expr::int64(step, span))),
            "last" if is_whole => Ok(Value::Scalar(stop)),
            // With a step of one in size, the last element is the stop itself.
            "reverse" if step == 1 || step == -1 => {
                Ok(Value::Range(RangeValue { start: stop, step: -step, stop: start }))
            }
            _ => {
                let operands = Kind::Range.to_string();
                Err(self.fail(TypeError::NoMethod { operator: name.into(), operands, span, help: None }))
            }
        }
    }
}
