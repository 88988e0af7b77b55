//! Arrays: elements, sizes, axes.

use super::arrays::Numbers;
use super::check::{Checked, Checker, Indexed};
use super::constant::folded;
use super::convert::constant_integer;
use super::error::TypeError;
use super::tree::{Expr, ExprKind, LocalId, Type};
use super::tuple::is_range;
use super::value::{Kind, Value};
use crate::ast;
use tessella_diagnostics::Span;

impl Checker<'_> {
    /// `base[subscripts...]` as a value.
    pub(super) fn index(&mut self, base: &ast::Expr, subscripts: &[ast::Argument], span: Span) -> Checked<Value> {
        let value = self.value(base)?;
        match value {
            Value::Range(range) if range.step == 1 && is_range(subscripts) => {
                self.part_of_range(range, &subscripts[0].value, span)
            }
            value @ (Value::Array(_) | Value::ComplexArray(_) | Value::Elements(_) | Value::Range(_)) => {
                let elements = self.as_elements(&value, base.span).expect("arrays and ranges have elements");
                self.index_elements(&elements, subscripts, base.span, span)
            }
            Value::Position(position) => self.component(&position, subscripts, span),
            Value::Tuple(values) | Value::Named(_, values) => {
                let [subscript] = subscripts else {
                    return Err(self.fail(TypeError::NotAnArray {
                        found: Kind::Tuple,
                        span: base.span,
                        declared: None,
                        element: false,
                    }));
                };
                self.indexed.push(Indexed::Tuple { length: values.len() });
                let position = self.value(&subscript.value);
                self.indexed.pop();
                let position = match position {
                    Ok(Value::Range(part)) => return self.part_of_tuple(values, part, subscript.value.span),
                    Ok(other) => self.as_scalar(other, subscript.value.span),
                    Err(reported) => Err(reported),
                };
                self.tuple_element(values, folded(position?), subscript.value.span, span)
            }
            Value::Type(ty) => self.typed_literal((ty, Numbers::Real), subscripts, span),
            Value::ComplexType(half) => self.typed_literal((half, Numbers::Complex), subscripts, span),
            other => {
                let found = self.kind(&other);
                let declared = match other {
                    Value::Scalar(Expr { kind: ExprKind::Local(id), .. }) => Some(self.local(id).span),
                    _ => None,
                };
                Err(self.fail(TypeError::NotAnArray { found, span: base.span, declared, element: is_element(base) }))
            }
        }
    }

    pub(super) fn rank(&self, array: LocalId) -> u32 {
        match self.local(array).ty {
            Type::Array { rank, .. } => rank,
            Type::Scalar(_) => 0,
        }
    }

    /// The axis, from 0, that an argument names.
    pub(super) fn axis_argument(&mut self, argument: &ast::Expr) -> Checked<u32> {
        let axis = self.scalar(argument)?;
        let what = match constant_integer(&folded(axis)) {
            Some(axis) => match axis.checked_sub(1).and_then(|axis| u32::try_from(axis).ok()) {
                Some(axis) => return Ok(axis),
                None => "the dimension, from 1,",
            },
            None => "the dimension",
        };
        Err(self.fail(TypeError::NotConstant { what, span: argument.span }))
    }
}

/// Whether an expression is an element, `A[i]`, by its form.
pub(super) fn is_element(base: &ast::Expr) -> bool {
    matches!(base.kind, ast::ExprKind::Index { .. })
}
