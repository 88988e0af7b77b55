//! Reductions of tuples: one expression of all their elements, left to right, as in Julia.
//!
//! ```text
//! sum(x -> x^2, (a, b, c))     ->   a^2 + b^2 + c^2
//! any(x -> x > t, (a, b))      ->   a > t || b > t
//! ```

use super::Operation;
use super::reduce::Reduction;
use crate::ast::{self, ExprKind};
use crate::typed::check::{Checked, Checker};
use crate::typed::convert::widen;
use crate::typed::scope::State;
use crate::typed::tree::Expr;
use crate::typed::tuple::GivesTuple;
use crate::typed::unsupported::Construct;
use crate::typed::value::Value;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, ScalarType};

/// Whether sums and products of small integers are of the machine's integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Small {
    Widened,
    /// `reduce(+, t)` adds them as they are.
    Kept,
    /// `sum(t)` adds them as they are in some versions of Julia, and widens them in others.
    Open,
}

impl Checker<'_> {
    /// `sum(t)`, `sum(f, t)` and the like, or `reduce(+, t)` (`by_operator`), of a tuple with elements; `None` for all else.
    pub(super) fn tuple_reduction(
        &mut self,
        reduction: Reduction,
        by_operator: bool,
        arguments: &[&ast::Expr],
        span: Span,
    ) -> Option<Checked<Value>> {
        let (function, tuple) = match arguments {
            [tuple] => (None, *tuple),
            [function, tuple] => (Some(*function), *tuple),
            _ => return None,
        };
        if !self.evaluates_to_tuple(tuple) {
            return None;
        }
        let (values, is_plain) = match self.value(tuple) {
            Ok(Value::Tuple(values)) if !values.is_empty() => (values, true),
            Ok(Value::Named(_, values)) if !values.is_empty() => (values, false),
            Ok(_) => return None,
            Err(reported) => return Some(Err(reported)),
        };
        let small = match (by_operator, function) {
            (true, _) => Small::Kept,
            (false, None) if is_plain => Small::Open,
            (false, _) => Small::Widened,
        };
        let operation = match function.map(|function| self.function_argument(function)).transpose() {
            Ok(operation) => operation.unwrap_or(Operation::Identity),
            Err(reported) => return Some(Err(reported)),
        };
        let at = tuple.span;
        Some(match (reduction, by_operator) {
            (Reduction::Any, false) => self.one_after_another(BinaryOp::OrElse, values, &operation, at, span),
            (Reduction::All, false) => self.one_after_another(BinaryOp::AndAlso, values, &operation, at, span),
            (_, _) => values
                .into_iter()
                .map(|value| self.operate(&operation, vec![value], &[at], span))
                .collect::<Checked<Vec<Value>>>()
                .and_then(|values| self.folded_left(reduction, small, values, at, span)),
        })
    }

    /// `((a + b) + c) + d`.
    fn folded_left(
        &mut self,
        reduction: Reduction,
        small: Small,
        values: Vec<Value>,
        at: Span,
        span: Span,
    ) -> Checked<Value> {
        let is_sum = matches!(reduction, Reduction::Sum | Reduction::Product);
        if is_sum && small == Small::Open && values.iter().any(|value| widened_type(value).is_some()) {
            return self.not_yet(Construct::SmallTuple, span);
        }
        let mut values = values.into_iter();
        let first = values.next().expect("the tuple has elements");
        let mut total = match reduction {
            Reduction::Count => self.truth_of(first, at).map(|value| Value::Scalar(widen(value, ScalarType::I64)))?,
            Reduction::Sum if is_bool(&first) => as_type(first, ScalarType::I64),
            _ if is_sum && small == Small::Widened => widened(first),
            _ => first,
        };
        for value in values {
            total = match reduction {
                Reduction::Sum | Reduction::NarrowSum | Reduction::Product | Reduction::NarrowProduct => {
                    let same = widened_type(&total).is_some() && widened_type(&total) == widened_type(&value);
                    let (left, right) = match same && small == Small::Widened {
                        true => (widened(total), widened(value)),
                        false => (total, value),
                    };
                    let is_sum = matches!(reduction, Reduction::Sum | Reduction::NarrowSum);
                    self.binary_values(if is_sum { "+" } else { "*" }, left, right, (at, at), span)?
                }
                Reduction::Maximum => self.apply_to_scalars("max", vec![total, value], &[at, at], span)?,
                Reduction::Minimum => self.apply_to_scalars("min", vec![total, value], &[at, at], span)?,
                Reduction::Any => self.binary_values("|", total, value, (at, at), span)?,
                Reduction::All => self.binary_values("&", total, value, (at, at), span)?,
                Reduction::Count => {
                    let one = self.truth_of(value, at).map(|value| Value::Scalar(widen(value, ScalarType::I64)))?;
                    self.binary_values("+", total, one, (at, at), span)?
                }
            };
        }
        Ok(total)
    }

    /// `f(a) || f(b) || f(c)`: what follows the decision is not evaluated.
    fn one_after_another(
        &mut self,
        operator: BinaryOp,
        values: Vec<Value>,
        operation: &Operation,
        at: Span,
        span: Span,
    ) -> Checked<Value> {
        let mut values = values.into_iter();
        let first = values.next().expect("the tuple has elements");
        let first = self.answer(operation, first, at, span);
        self.decided_by(operator, first, values.as_slice(), operation, at, span).map(Value::Scalar)
    }

    fn decided_by(
        &mut self,
        operator: BinaryOp,
        first: Checked<Expr>,
        rest: &[Value],
        operation: &Operation,
        at: Span,
        span: Span,
    ) -> Checked<Expr> {
        let Some((next, rest)) = rest.split_first() else { return first };
        let decided = self.short_circuit_of(
            operator,
            first,
            |checker| {
                let next = checker.answer(operation, next.clone(), at, span);
                checker.decided_by(operator, next, rest, operation, at, span)
            },
            span,
        )?;
        self.as_scalar(decided, span)
    }

    /// What the predicate says of an element.
    fn answer(&mut self, operation: &Operation, value: Value, at: Span, span: Span) -> Checked<Expr> {
        let value = self.operate(operation, vec![value], &[at], span)?;
        self.truth_of(value, at)
    }

    /// Whether an expression gives a tuple.
    fn evaluates_to_tuple(&mut self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ExprKind::Tuple(_) => true,
            ExprKind::Name(name) => {
                let is_named = |checker: &Self| {
                    let state = checker.lookup(name).map(|variable| &checker.variables[variable.0].state);
                    matches!(state, Some(State::Alias(Value::Named(..))))
                };
                self.is_tuple(expr) || is_named(self)
            }
            _ => {
                self.gives_tuple(expr) > GivesTuple::No && {
                    let errors = self.errors.len();
                    let (_, value) = self.trial(|checker| checker.value(expr));
                    self.errors.truncate(errors);
                    matches!(value, Ok(Value::Tuple(_) | Value::Named(..)))
                }
            }
        }
    }
}

fn is_bool(value: &Value) -> bool {
    matches!(value, Value::Scalar(value) if value.ty == ScalarType::Bool)
}

/// The machine's integer that a small one becomes.
fn widened_type(value: &Value) -> Option<ScalarType> {
    match value {
        Value::Scalar(value) => match value.ty {
            ScalarType::I8 | ScalarType::I16 | ScalarType::I32 => Some(ScalarType::I64),
            ScalarType::U8 | ScalarType::U16 | ScalarType::U32 => Some(ScalarType::U64),
            ScalarType::Bool | ScalarType::I64 | ScalarType::U64 | ScalarType::F32 | ScalarType::F64 => None,
        },
        _ => None,
    }
}

fn widened(value: Value) -> Value {
    match widened_type(&value) {
        Some(ty) => as_type(value, ty),
        None => value,
    }
}

fn as_type(value: Value, ty: ScalarType) -> Value {
    match value {
        Value::Scalar(value) => Value::Scalar(widen(value, ty)),
        other => other,
    }
}
