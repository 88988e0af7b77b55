//! `CartesianIndex`es: made, added, subtracted, multiplied with a number; ranges of them.

use super::arrays::{Elements, Numbers, Position, Recipe};
use super::check::{Checked, Checker};
use super::constant::folded;
use super::error::TypeError;
use super::operator::binary;
use super::scope::State;
use super::tree::Expr;
use super::unsupported::Construct;
use super::value::{Kind, RangeValue, Value};
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, ScalarType};

impl Checker<'_> {
    /// `CartesianIndex(i, j)`, `CartesianIndex((i, j))`.
    pub(super) fn cartesian_index(&mut self, arguments: &[ast::Argument], span: Span) -> Checked<Value> {
        let mut subscripts = vec![];
        for argument in arguments {
            let inner = match &argument.value.kind {
                ast::ExprKind::Splat(inner) => inner,
                _ => &argument.value,
            };
            let values = match self.value(inner)? {
                Value::Tuple(values) => values,
                value => vec![value],
            };
            for value in values {
                match value {
                    Value::Scalar(value) if value.ty.is_integer() => {
                        subscripts.push(self.coerce(value, ScalarType::I64, None)?);
                    }
                    other => {
                        let found = self.kind(&other);
                        return Err(self.fail(TypeError::SubscriptType { found, span: argument.value.span }));
                    }
                }
            }
        }
        Ok(position(subscripts, span))
    }

    /// `I + J`, `I - J`, `2I`: `None` where neither is such an index.
    pub(super) fn position_infix(
        &mut self,
        symbol: &str,
        left: &Value,
        right: &Value,
        span: Span,
    ) -> Option<Checked<Value>> {
        let values = match (cartesian(left), cartesian(right), left, right) {
            (None, None, _, _) => return None,
            (Some(left), Some(right), _, _) if left.len() == right.len() => {
                let operator = match symbol {
                    "+" => BinaryOp::Add,
                    "-" => BinaryOp::Sub,
                    _ => return Some(Err(self.no_position(symbol, span))),
                };
                left.iter().zip(right).map(|(a, b)| folded(binary(operator, a.clone(), b.clone(), span))).collect()
            }
            (Some(subscripts), None, _, Value::Scalar(factor)) | (None, Some(subscripts), Value::Scalar(factor), _)
                if symbol == "*" && factor.ty == ScalarType::I64 =>
            {
                let factor = self.share(factor.clone());
                let times = |it: &Expr| folded(binary(BinaryOp::Mul, factor.clone(), it.clone(), span));
                subscripts.iter().map(times).collect()
            }
            (_, _, _, _) => return Some(Err(self.no_position(symbol, span))),
        };
        Some(Ok(position(values, span)))
    }

    /// `CartesianIndices(A)`, `CartesianIndices((2:3, n))`.
    pub(super) fn places(&mut self, argument: &ast::Expr, span: Span) -> Checked<Vec<RangeValue>> {
        match self.value(argument)? {
            Value::Tuple(values) => {
                let mut axes = vec![];
                for value in values {
                    axes.push(match value {
                        Value::Range(range) => range,
                        other => {
                            RangeValue { start: Expr::int64(1, span), step: 1, stop: self.as_scalar(other, span)? }
                        }
                    });
                }
                Ok(axes)
            }
            Value::Places(axes) => Ok(axes),
            value => match self.as_elements(&value, span) {
                Some(elements) => Ok((0..elements.rank()).map(|axis| self.axis_range(&elements, axis)).collect()),
                None => self.not_yet(Construct::Iterator, span),
            },
        }
    }

    /// `LinearIndices(A)`, `LinearIndices((m, n))`.
    pub(super) fn linear_indices(&mut self, argument: &ast::Expr, span: Span) -> Checked<Value> {
        let of = match self.value(argument)? {
            Value::Tuple(values) if !values.is_empty() => {
                let mut extents = vec![];
                for value in values {
                    let extent = self.as_scalar(value, argument.span)?;
                    if !extent.ty.is_integer() {
                        return self.not_yet(Construct::LinearIndex, span);
                    }
                    let extent = self.coerce(extent, ScalarType::I64, None)?;
                    extents.push(self.settled("extent", extent));
                }
                Elements { element: ScalarType::I64, numbers: Numbers::Real, extents, recipe: Recipe::Undefined, span }
            }
            value => match self.as_elements(&value, span) {
                Some(elements) => elements,
                None => return self.not_yet(Construct::LinearIndex, span),
            },
        };
        let (extents, recipe) = (of.extents.clone(), Recipe::Numbering(Box::new(of)));
        let numbers = Elements { element: ScalarType::I64, numbers: Numbers::Real, extents, recipe, span };
        Ok(Value::Elements(Box::new(numbers)))
    }

    /// `I:J` of two places of as many dimensions.
    pub(super) fn places_between(
        &mut self,
        start: &ast::Expr,
        stop: &ast::Expr,
        span: Span,
    ) -> Checked<Vec<RangeValue>> {
        let (first, last) = (self.value(start)?, self.value(stop)?);
        match (cartesian(&first), cartesian(&last)) {
            (Some(first), Some(last)) if first.len() == last.len() => {
                let axis =
                    |(start, stop): (&Expr, &Expr)| RangeValue { start: start.clone(), step: 1, stop: stop.clone() };
                Ok(first.iter().zip(last).map(axis).collect())
            }
            (_, _) => Err(self.no_position(":", span)),
        }
    }

    /// Whether an expression is such an index, as far as can be seen without evaluating it.
    pub(super) fn is_place(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ast::ExprKind::Name(name) => self.meaning(name).is_some_and(|value| cartesian(value).is_some()),
            ast::ExprKind::Infix { left, right, .. } => self.is_place(left) || self.is_place(right),
            ast::ExprKind::Juxtapose { operand, .. } => self.is_place(operand),
            ast::ExprKind::Call { callee, arguments, broadcast: ast::Broadcast::No } => {
                match (self.library_name(callee), arguments.as_slice()) {
                    (Some("CartesianIndex"), _) => true,
                    (Some("first" | "last"), [of]) => self.is_places(&of.value),
                    (Some("min" | "max" | "oneunit" | "one" | "zero"), all) => {
                        all.iter().any(|argument| self.is_place(&argument.value))
                    }
                    (_, _) => false,
                }
            }
            _ => false,
        }
    }

    /// Whether an expression is a range of such indices, as far as can be seen without evaluating it.
    pub(super) fn is_places(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ast::ExprKind::Name(name) => matches!(self.meaning(name), Some(Value::Places(_))),
            ast::ExprKind::Range { start, step: None, stop } => self.is_place(start) || self.is_place(stop),
            ast::ExprKind::Call { callee, arguments, broadcast: ast::Broadcast::No } => {
                self.library_name(callee) == Some("CartesianIndices") && arguments.len() == 1
            }
            _ => false,
        }
    }

    /// What a name stands for that is no variable.
    fn meaning(&self, name: &str) -> Option<&Value> {
        match &self.variables[self.lookup(name)?.0].state {
            State::Alias(value) => Some(value),
            _ => None,
        }
    }

    /// `first(R)`, `last(R)` of a range of such indices, `min(I, J)` and `max(I, J)`; `None` for calls of anything else.
    pub(super) fn place_call(&mut self, name: &str, arguments: &[ast::Argument], span: Span) -> Option<Checked<Value>> {
        match (name, arguments) {
            ("first" | "last", [of]) if self.is_places(&of.value) => {
                let axes = match self.value(&of.value) {
                    Ok(Value::Places(axes)) => axes,
                    Ok(_) => return None,
                    Err(reported) => return Some(Err(reported)),
                };
                let end = |axis: RangeValue| if name == "first" { axis.start } else { axis.stop };
                Some(Ok(position(axes.into_iter().map(end).collect(), span)))
            }
            ("min" | "max", [left, right]) if self.is_place(&left.value) || self.is_place(&right.value) => {
                let values = self.value(&left.value).and_then(|left| Ok((left, self.value(&right.value)?)));
                let (left, right) = match values {
                    Ok(values) => values,
                    Err(reported) => return Some(Err(reported)),
                };
                let operator = if name == "min" { BinaryOp::Min } else { BinaryOp::Max };
                Some(match (cartesian(&left), cartesian(&right)) {
                    (Some(left), Some(right)) if left.len() == right.len() => {
                        let of = |(a, b): (&Expr, &Expr)| folded(binary(operator, a.clone(), b.clone(), span));
                        Ok(position(left.iter().zip(right).map(of).collect(), span))
                    }
                    (_, _) => Err(self.no_position(name, span)),
                })
            }
            (_, _) => None,
        }
    }

    /// `oneunit(I)`, `zero(I)`, `one(I)`.
    pub(super) fn position_function(&self, name: &str, values: &[Value], span: Span) -> Option<Value> {
        let [value] = values else { return None };
        let count = cartesian(value)?.len();
        let number = match name {
            "oneunit" | "one" => 1,
            "zero" => 0,
            _ => return None,
        };
        Some(position(vec![Expr::int64(number, span); count], span))
    }

    fn no_position(&mut self, symbol: &str, span: Span) -> super::check::Reported {
        let operands = Kind::Position.to_string();
        let help = Some("add or subtract indices of as many dimensions, or take their components: `I[1]`");
        self.fail(TypeError::NoMethod { operator: symbol.into(), operands, span, help })
    }
}

fn position(subscripts: Vec<Expr>, span: Span) -> Value {
    let subscripts = subscripts.into_iter().map(|it| it.placed(span)).collect();
    Value::Position(Position { subscripts, linear_in: None, is_number: false })
}

fn cartesian(value: &Value) -> Option<&[Expr]> {
    match value {
        Value::Position(Position { subscripts, linear_in: None, .. }) => Some(subscripts),
        _ => None,
    }
}
