//! Which places have to be inside of an array, wherever elements are used or not.

use super::origin::last_of;
use super::shape::step_to;
use super::{Elements, Position, Recipe};
use crate::ast;
use crate::typed::check::{Checked, Checker};
use crate::typed::compare::compare;
use crate::typed::constant::folded;
use crate::typed::convert::is_total;
use crate::typed::error::TypeError;
use crate::typed::operator::binary;
use crate::typed::tree::{Expr, ExprKind, LocalId, SizeError};
use crate::typed::unsupported::Construct;
use crate::typed::value::{RangeValue, Value};
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType};

impl Checker<'_> {
    /// A subscript must be inside its array also where there is no element that would be read.
    pub(super) fn require_inside_empty(
        &mut self,
        at: &Expr,
        array: LocalId,
        axis: usize,
        extents: &[Expr],
        span: Span,
    ) -> Checked<()> {
        let Some(extent) = self.raw_extents(array, span).into_iter().nth(axis) else { return Ok(()) };
        if self.mode.inbounds {
            return Ok(());
        }
        let one = || Expr::int64(1, span);
        let first = self.first_of(array, axis, span);
        let inside = between(at, first.clone(), last_of(&first, extent), span);
        let some = extents.iter().map(|extent| compare(CompareOp::Ge, extent.clone().placed(span), one(), span));
        let Some(some) = some.reduce(|a, b| binary(BinaryOp::AndAlso, a, b, span)) else { return Ok(()) };
        let condition = binary(BinaryOp::OrElse, some, inside.clone(), span);
        self.require(condition, SizeError::Bounds, "a subscript is outside its array", span)?;
        // And where elements are not read, or not all of them.
        self.require(inside, SizeError::Bounds, "a subscript is outside its array", span)
    }

    /// A range of places must be inside its array when the part is made, whichever of its elements are used.
    pub(super) fn require_range_in_array(
        &mut self,
        range: &RangeValue,
        length: &Expr,
        (array, axis): (LocalId, usize),
        span: Span,
    ) -> Checked<()> {
        let Some(extent) = self.raw_extents(array, span).into_iter().nth(axis) else { return Ok(()) };
        let first = self.first_of(array, axis, span);
        let last = last_of(&first, extent);
        self.require_range_between(range, length, (first, last), span)
    }

    /// What an expression reads must be inside its arrays also where its value is not used.
    pub(in crate::typed) fn keep_reads(&mut self, value: &Value) -> Checked<()> {
        match value {
            Value::Scalar(value) => self.keep_reads_of(value),
            Value::Complex(value) => {
                self.keep_reads_of(&value.re)?;
                self.keep_reads_of(&value.im)
            }
            Value::Tuple(values) | Value::Named(_, values) => values.iter().try_for_each(|it| self.keep_reads(it)),
            Value::Irrational(..)
            | Value::Array(_)
            | Value::ComplexArray(_)
            | Value::ComplexType(_)
            | Value::Elements(_)
            | Value::Range(_)
            | Value::Position(_)
            | Value::Places(_)
            | Value::Type(_)
            | Value::Function(_)
            | Value::Nothing
            | Value::Never => Ok(()),
        }
    }

    /// Of elements that are computed one by one, Julia computes all where one of them is asked for.
    pub(super) fn keep_elements(&mut self, elements: &Elements) -> Checked<()> {
        match &elements.recipe {
            Recipe::Apply { .. } | Recipe::Comprehension { .. } => {}
            Recipe::Transposed(inner) | Recipe::Row(inner) => return self.keep_elements(inner),
            Recipe::Part(_)
            | Recipe::Range(_)
            | Recipe::Fill(_)
            | Recipe::Undefined
            | Recipe::Scalar(_)
            | Recipe::Rows(_)
            | Recipe::Slices { .. }
            | Recipe::Numbering(_) => return Ok(()),
        }
        self.writes_statements(elements.span)?;
        let extents: Vec<Expr> = elements.extents.iter().map(|it| self.settled("extent", it.clone())).collect();
        self.nest(&extents, elements.span, |checker, at| {
            let value = checker.element(elements, at)?;
            checker.keep_reads(&value)
        })
    }

    fn keep_reads_of(&mut self, value: &Expr) -> Checked<()> {
        // Constants of the file are evaluated where they are used, and have no block for statements.
        if !self.open_constants.is_empty() {
            return Ok(());
        }
        let mut reads = vec![];
        let mut chooses = false;
        visit(value, &mut |part| match &part.kind {
            ExprKind::Load { array, subscripts, inbounds: false } => {
                reads.push((*array, subscripts.clone(), part.span));
            }
            kind => chooses |= is_choice(kind),
        });
        if reads.is_empty() {
            return Ok(());
        }
        if chooses {
            self.hold("unused", value.clone());
            return Ok(());
        }
        for (array, subscripts, span) in reads {
            for (axis, (at, extent)) in subscripts.iter().zip(self.raw_extents(array, span)).enumerate() {
                let first = self.first_of(array, axis, span);
                let inside = folded(between(at, first.clone(), last_of(&first, extent), span));
                self.require(inside, SizeError::Bounds, "a subscript is outside its array", span)?;
            }
        }
        Ok(())
    }

    /// `checkbounds(Bool, A, i, j)`, and `checkbounds(A, i, j)`, which raises an exception.
    pub(in crate::typed) fn checkbounds(&mut self, arguments: &[ast::Argument], span: Span) -> Checked<Value> {
        let is_bool =
            |argument: &ast::Argument| matches!(&argument.value.kind, ast::ExprKind::Name(name) if name == "Bool");
        let (asks, arguments) = match arguments.split_first() {
            Some((first, rest)) if is_bool(first) => (true, rest),
            _ => (false, arguments),
        };
        let Some((array, given)) = arguments.split_first() else {
            return Err(self.arity("checkbounds", "an array and subscripts", arguments.len(), span));
        };
        if let Some(other) = arguments.iter().find(|it| it.keyword.is_some() || it.section != ast::Section::Main) {
            return self.not_yet(Construct::KeywordArgument, other.value.span);
        }
        let elements = self.elements_argument("checkbounds", &array.value)?;
        let mut subscripts = vec![];
        for argument in given {
            let at = argument.value.span;
            match self.value(&argument.value)? {
                Value::Position(Position { subscripts: all, linear_in: None, .. }) => subscripts.extend(all),
                value @ Value::Position(_) => subscripts.push(self.as_scalar(value, at)?),
                Value::Scalar(value) if value.ty.is_integer() && is_total(value.ty, ScalarType::I64) => {
                    subscripts.push(self.coerce(value, ScalarType::I64, None)?);
                }
                other => {
                    let found = self.kind(&other);
                    return Err(self.fail(TypeError::SubscriptType { found, span: at }));
                }
            }
        }
        let axes: Vec<(Expr, Expr)> = match (subscripts.len(), elements.rank()) {
            (1, rank) if rank > 1 => vec![(Expr::int64(1, span), self.product_of(&elements.extents, span))],
            (count, rank) if count == rank => {
                let ranges = (0..rank).map(|axis| self.axis_range(&elements, axis));
                ranges.map(|range| (range.start, range.stop)).collect()
            }
            (_, _) => return self.not_yet(Construct::LinearIndex, span),
        };
        let mut inside: Option<Expr> = None;
        for (at, (first, last)) in subscripts.into_iter().zip(axes) {
            let at = self.share(at);
            let here = folded(between(&at, first, last, span));
            inside = Some(match inside {
                Some(before) => binary(BinaryOp::AndAlso, before, here, span),
                None => here,
            });
        }
        let inside = inside.unwrap_or_else(|| Expr::constant(Constant::bool(true), span));
        if asks {
            return Ok(Value::Scalar(inside));
        }
        self.require(inside, SizeError::Thrown, "BoundsError: a subscript is outside its array", span)?;
        Ok(Value::Nothing)
    }

    /// A subscript of a view must be inside the view, not only inside its array.
    pub(super) fn require_inside(&mut self, at: &Expr, extent: &Expr, span: Span) -> Checked<()> {
        if self.mode.inbounds {
            return Ok(());
        }
        let inside = between(at, Expr::int64(1, span), extent.clone().placed(span), span);
        self.require(inside, SizeError::Bounds, "a part of an array is left", span)
    }

    pub(super) fn require_range_inside(
        &mut self,
        range: &RangeValue,
        length: &Expr,
        extent: &Expr,
        span: Span,
    ) -> Checked<()> {
        let bounds = (Expr::int64(1, span), extent.clone().placed(span));
        self.require_range_between(range, length, bounds, span)
    }

    fn require_range_between(
        &mut self,
        range: &RangeValue,
        length: &Expr,
        (first, end): (Expr, Expr),
        span: Span,
    ) -> Checked<()> {
        if self.mode.inbounds {
            return Ok(());
        }
        let last = step_to(&range.start, range.step, length);
        let (low, high) = if range.step > 0 { (&range.start, &last) } else { (&last, &range.start) };
        let zero = Expr::int64(0, span);
        let empty = compare(CompareOp::Le, length.clone().placed(span), zero, span);
        let low = compare(CompareOp::Ge, low.clone().placed(span), first, span);
        let high = compare(CompareOp::Le, high.clone().placed(span), end, span);
        let inside = binary(BinaryOp::OrElse, empty, binary(BinaryOp::AndAlso, low, high, span), span);
        self.require(inside, SizeError::Bounds, "a part of an array is left", span)
    }
}

/// `first <= at && at <= last`
pub(super) fn between(at: &Expr, first: Expr, last: Expr, span: Span) -> Expr {
    let low = compare(CompareOp::Ge, at.clone().placed(span), first, span);
    let high = compare(CompareOp::Le, at.clone().placed(span), last, span);
    binary(BinaryOp::AndAlso, low, high, span)
}

/// Shows an expression and all its parts.
fn visit<'e>(expr: &'e Expr, see: &mut dyn FnMut(&'e Expr)) {
    see(expr);
    expr.operands().into_iter().for_each(|operand| visit(operand, see));
}

/// Whether not all of an expression's parts are evaluated.
fn is_choice(kind: &ExprKind) -> bool {
    matches!(kind, ExprKind::Select { .. } | ExprKind::Binary(BinaryOp::AndAlso | BinaryOp::OrElse, ..))
}
