//! Arrays: elements, sizes, axes.

use super::check::{Checked, Checker, Indexed};
use super::constant::folded;
use super::convert::{constant_integer, is_total, widen};
use super::error::TypeError;
use super::tree::{Expr, ExprKind, LocalId, Type};
use super::unsupported::Construct;
use super::value::{Kind, Value};
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, ScalarType};

impl Checker<'_> {
    /// `base[subscripts...]` as a value.
    pub(super) fn index(&mut self, base: &ast::Expr, subscripts: &[ast::Argument], span: Span) -> Checked<Value> {
        let value = self.value(base)?;
        match value {
            Value::Array(array) => {
                let subscripts = self.subscripts(array, subscripts, span)?;
                let Type::Array { element, .. } = self.local(array).ty else { unreachable!("only arrays are `Array`") };
                let inbounds = self.mode.inbounds;
                Ok(Value::Scalar(Expr { kind: ExprKind::Load { array, subscripts, inbounds }, ty: element, span }))
            }
            Value::Tuple(values) => {
                let [subscript] = subscripts else {
                    return Err(self.fail(TypeError::NotAnArray {
                        found: Kind::Tuple,
                        span: base.span,
                        declared: None,
                    }));
                };
                self.indexed.push(Indexed::Tuple { length: values.len() });
                let position = self.scalar(&subscript.value);
                self.indexed.pop();
                let position = constant_integer(&folded(position?));
                let value = position.and_then(|at| usize::try_from(at - 1).ok()).and_then(|at| values.get(at).cloned());
                value.ok_or_else(|| {
                    self.fail(TypeError::NotConstant { what: "the position in a tuple", span: subscript.value.span })
                })
            }
            Value::Type(_) => self.not_yet(Construct::LocalArray, span),
            other => {
                let found = self.kind(&other);
                let declared = match other {
                    Value::Scalar(Expr { kind: ExprKind::Local(id), .. }) => Some(self.local(id).span),
                    _ => None,
                };
                Err(self.fail(TypeError::NotAnArray { found, span: base.span, declared }))
            }
        }
    }

    /// An element of an array as the target of a store.
    pub(super) fn subscripted(
        &mut self,
        base: &ast::Expr,
        subscripts: &[ast::Argument],
        span: Span,
    ) -> Checked<(LocalId, Vec<Expr>)> {
        match self.value(base)? {
            Value::Array(array) => Ok((array, self.subscripts(array, subscripts, span)?)),
            other => {
                let found = self.kind(&other);
                let declared = match other {
                    Value::Scalar(Expr { kind: ExprKind::Local(id), .. }) => Some(self.local(id).span),
                    _ => None,
                };
                Err(self.fail(TypeError::NotAnArray { found, span: base.span, declared }))
            }
        }
    }

    fn subscripts(&mut self, array: LocalId, given: &[ast::Argument], span: Span) -> Checked<Vec<Expr>> {
        let Type::Array { rank, .. } = self.local(array).ty else { unreachable!("only arrays are subscripted") };
        let mut subscripts = vec![];
        for (axis, subscript) in given.iter().enumerate() {
            if subscript.keyword.is_some() || subscript.section == ast::Section::Keywords {
                return self.not_yet(Construct::KeywordArgument, subscript.value.span);
            }
            self.indexed.push(Indexed::Array { array, axis: axis as u32 });
            let value = self.value(&subscript.value);
            self.indexed.pop();
            subscripts.push(value.and_then(|value| self.subscript(value, subscript.value.span)));
        }
        if given.len() != rank as usize {
            let (name, declared) = (self.local(array).name.clone(), self.local(array).span);
            let given = given.len();
            return Err(self.fail(TypeError::SubscriptCount { array: name, rank, given, span, declared }));
        }
        subscripts.into_iter().collect()
    }

    fn subscript(&mut self, value: Value, span: Span) -> Checked<Expr> {
        match value {
            Value::Range(_) | Value::Array(_) => self.not_yet(Construct::Slice, span),
            Value::Scalar(expr) if expr.ty.is_integer() && is_total(expr.ty, ScalarType::I64) => {
                Ok(widen(expr, ScalarType::I64))
            }
            other => {
                let found = self.kind(&other);
                Err(self.fail(TypeError::SubscriptType { found, span }))
            }
        }
    }

    /// `size(array, axis + 1)`; axes beyond the last have size 1.
    pub(super) fn size(&self, array: LocalId, axis: u32, span: Span) -> Expr {
        match self.local(array).ty {
            Type::Array { rank, .. } if axis < rank => {
                Expr { kind: ExprKind::Size { array, axis }, ty: ScalarType::I64, span }
            }
            Type::Array { .. } | Type::Scalar(_) => Expr::int64(1, span),
        }
    }

    pub(super) fn rank(&self, array: LocalId) -> u32 {
        match self.local(array).ty {
            Type::Array { rank, .. } => rank,
            Type::Scalar(_) => 0,
        }
    }

    pub(super) fn length(&self, array: LocalId, span: Span) -> Expr {
        let sizes = (0..self.rank(array)).map(|axis| self.size(array, axis, span));
        let product = sizes.reduce(|left, right| Expr {
            kind: ExprKind::Binary(BinaryOp::Mul, Box::new(left), Box::new(right)),
            ty: ScalarType::I64,
            span,
        });
        product.unwrap_or_else(|| Expr::int64(1, span))
    }

    /// The array that an argument of `size`, `axes`, ... names.
    pub(super) fn array_argument(&mut self, argument: &ast::Expr, function: &str) -> Checked<LocalId> {
        match self.value(argument)? {
            Value::Array(array) => Ok(array),
            other => {
                let operands = self.kind(&other).to_string();
                let operator = function.to_string();
                let help = Some("pass an array");
                Err(self.fail(TypeError::NoMethod { operator, operands, span: argument.span, help }))
            }
        }
    }

    /// The axis, from 0, that an argument names.
    pub(super) fn axis_argument(&mut self, argument: &ast::Expr) -> Checked<u32> {
        let axis = self.scalar(argument)?;
        let axis = constant_integer(&folded(axis)).and_then(|axis| u32::try_from(axis - 1).ok());
        axis.ok_or_else(|| self.fail(TypeError::NotConstant { what: "the dimension", span: argument.span }))
    }
}
