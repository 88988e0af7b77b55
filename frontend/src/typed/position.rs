//! `CartesianIndex`es: made, added, subtracted, multiplied with a number.

use super::arrays::Position;
use super::check::{Checked, Checker};
use super::constant::folded;
use super::error::TypeError;
use super::operator::binary;
use super::tree::Expr;
use super::value::{Kind, Value};
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
