//! How many elements there are, and that shapes agree.

use super::{ArrayError, Axis, Elements, Keeps, Numbers, Part, Recipe};
use crate::typed::check::{Checked, Checker};
use crate::typed::compare::compare;
use crate::typed::complex::Complex;
use crate::typed::constant::folded;
use crate::typed::convert::constant_integer;
use crate::typed::error::TypeError;
use crate::typed::operator::binary;
use crate::typed::tree::{Expr, ExprKind, LocalId, Requirement, Role, SizeError, StatementKind, Type};
use crate::typed::value::{RangeValue, Value};
use std::collections::BTreeMap;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType};

/// Whether two expressions are the same, wherever they stand.
pub(in crate::typed) fn same(a: &Expr, b: &Expr) -> bool {
    a.clone().placed(b.span) == b.clone().placed(b.span)
}

/// Whether two integers certainly differ: `1` and `2`, `n` and `n - 1`. Of some locals it is known what they were just set to.
pub(super) fn differ(a: &Expr, b: &Expr, known: &BTreeMap<LocalId, Expr>) -> bool {
    let ((a, by), (b, other)) = (without_constant(a, known), without_constant(b, known));
    match (a, b) {
        (None, None) => by != other,
        // Sums that wrap around are equal again after 2^64.
        (Some(a), Some(b)) => {
            let is_near = (by - other).unsigned_abs() < 1 << 32;
            a.ty == ScalarType::I64 && same(a, b) && by != other && is_near
        }
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// A sum without the constants that it ends with, which are added up.
fn without_constant<'a>(expr: &'a Expr, known: &'a BTreeMap<LocalId, Expr>) -> (Option<&'a Expr>, i128) {
    if let Some(value) = constant_integer(expr) {
        return (None, value);
    }
    match &expr.kind {
        ExprKind::Local(local) if let Some(value) = known.get(local) => without_constant(value, known),
        ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right)
            if let Some(by) = constant_integer(right) =>
        {
            let (rest, more) = without_constant(left, known);
            (rest, if *op == BinaryOp::Add { more + by } else { more - by })
        }
        _ => (Some(expr), 0),
    }
}

/// Whether an `Int64` is certainly not negative.
fn is_count(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Size { .. } => true,
        ExprKind::Binary(BinaryOp::Max, left, right) => is_count(left) || is_count(right),
        _ => constant_integer(expr).is_some_and(|value| value >= 0),
    }
}

pub(super) fn is_one(expr: &Expr) -> bool {
    constant_integer(expr) == Some(1)
}

/// `max(extent, 0)`.
pub(in crate::typed) fn clamped(extent: Expr) -> Expr {
    if is_count(&extent) {
        return extent;
    }
    let span = extent.span;
    binary(BinaryOp::Max, extent, Expr::int64(0, span), span)
}

pub(super) fn plus(expr: Expr, by: i64) -> Expr {
    let span = expr.span;
    match by {
        0 => expr,
        _ if by < 0 => folded(binary(BinaryOp::Sub, expr, Expr::int64(-by, span), span)),
        _ => folded(binary(BinaryOp::Add, expr, Expr::int64(by, span), span)),
    }
}

/// Element `at` of `start`, `start + step`, ...
pub(super) fn step_to(start: &Expr, step: i64, at: &Expr) -> Expr {
    let span = start.span;
    if is_one(at) {
        return start.clone();
    }
    let first = constant_integer(start).and_then(|start| i64::try_from(start).ok());
    match (first, step) {
        (Some(first), 1) => plus(at.clone(), first.saturating_sub(1)),
        (_, 1) => folded(binary(BinaryOp::Add, start.clone(), plus(at.clone(), -1), span)),
        (_, -1) => folded(binary(BinaryOp::Sub, start.clone(), plus(at.clone(), -1), span)),
        (_, _) => {
            let distance = folded(binary(BinaryOp::Mul, Expr::int64(step, span), plus(at.clone(), -1), span));
            folded(binary(BinaryOp::Add, start.clone(), distance, span))
        }
    }
}

/// How many elements a range has; negative numbers mean none.
pub(in crate::typed) fn count(range: &RangeValue) -> Expr {
    let RangeValue { start, step, stop } = range;
    let span = stop.span;
    if *step == 1 {
        return match constant_integer(start).and_then(|start| i64::try_from(start).ok()) {
            Some(first) => plus(stop.clone(), 1_i64.saturating_sub(first)),
            None => plus(folded(binary(BinaryOp::Sub, stop.clone(), start.clone(), span)), 1),
        };
    }
    let (from, to) = if *step > 0 { (start, stop) } else { (stop, start) };
    let distance = folded(binary(BinaryOp::Sub, to.clone(), from.clone(), span));
    let size = step.saturating_abs();
    let steps = match size {
        1 => distance,
        _ => folded(binary(BinaryOp::DivFloor, distance, Expr::int64(size, span), span)),
    };
    plus(steps, 1)
}

impl Checker<'_> {
    /// The extents of an array, as they were given where it was made: negative ones mean none.
    pub(in crate::typed) fn raw_extents(&self, array: LocalId, span: Span) -> Vec<Expr> {
        match (self.made.get(&array), self.local(array).ty) {
            (Some(extents), _) => extents.iter().map(|extent| extent.clone().placed(span)).collect(),
            (None, Type::Array { rank, .. }) => {
                let size = |axis| Expr { kind: ExprKind::Size { array, axis }, ty: ScalarType::I64, span };
                (0..rank).map(size).collect()
            }
            (None, Type::Scalar(_)) => vec![],
        }
    }

    /// All of an array.
    pub(in crate::typed) fn whole(&self, array: LocalId, keeps: Keeps, span: Span) -> Elements {
        let extents = self.raw_extents(array, span);
        let along = |axis| Axis::Along { start: self.first_of(array, axis, span), step: 1, whole: true };
        let axes = (0..extents.len()).map(along).collect();
        let (Type::Array { element, .. } | Type::Scalar(element)) = self.local(array).ty;
        let part = Part { array, axes, keeps, flat: false, inbounds: self.mode.inbounds };
        Elements { element, numbers: Numbers::Real, extents, recipe: Recipe::Part(part), span }
    }

    /// All of an array that holds such numbers.
    pub(in crate::typed) fn whole_of(&self, numbers: Numbers, array: LocalId, keeps: Keeps, span: Span) -> Elements {
        let whole = self.whole(array, keeps, span);
        match numbers {
            Numbers::Real => whole,
            Numbers::Complex => Elements { numbers, ..whole.without_first(Expr::int64(1, span)) },
        }
    }

    /// The value as elements, if it is an array or a range.
    pub(in crate::typed) fn as_elements(&self, value: &Value, span: Span) -> Option<Elements> {
        match value {
            Value::Array(array) => Some(self.whole(*array, Keeps::View, span)),
            Value::ComplexArray(array) => Some(self.whole_of(Numbers::Complex, *array, Keeps::View, span)),
            Value::Elements(elements) => Some((**elements).clone()),
            Value::Range(range) => Some(Elements {
                element: ScalarType::I64,
                numbers: Numbers::Real,
                extents: vec![count(range)],
                recipe: Recipe::Range(range.clone()),
                span,
            }),
            Value::Scalar(_)
            | Value::Irrational(..)
            | Value::Complex(_)
            | Value::ComplexType(_)
            | Value::Tuple(_)
            | Value::Named(..)
            | Value::Type(_)
            | Value::Position(_)
            | Value::Places(_)
            | Value::Function(_)
            | Value::Nothing
            | Value::Never => None,
        }
    }

    /// The sizes of an array or range as Julia's `size` gives them.
    pub(in crate::typed) fn sizes(&self, value: &Value, span: Span) -> Option<Vec<Expr>> {
        let elements = self.as_elements(value, span)?;
        Some(elements.extents.into_iter().map(|extent| clamped(extent.placed(span))).collect())
    }

    /// An integer that may be used later and anywhere inside, whatever is assigned meanwhile.
    pub(in crate::typed) fn settled(&mut self, name: &str, value: Expr) -> Expr {
        let changes = value.any(&|part| match part.kind {
            ExprKind::Load { .. } => true,
            ExprKind::Local(id) => matches!(self.local(id).role, Role::Variable(_)),
            _ => false,
        });
        if changes { self.hold(name, value) } else { value }
    }

    /// A number, real or complex, that may be used later and anywhere inside, whatever is assigned meanwhile.
    pub(super) fn settled_number(&mut self, name: &str, value: Value, span: Span) -> Checked<Value> {
        match value {
            Value::Complex(value) => {
                let (re, im) = (self.settled(name, value.re), self.settled(name, value.im));
                Ok(Complex { re, im }.value())
            }
            value => {
                let value = self.as_scalar(value, span)?;
                Ok(Value::Scalar(self.settled(name, value)))
            }
        }
    }

    /// Constants of the file are evaluated where they are used, and have no block for statements.
    pub(in crate::typed) fn writes_statements(&mut self, span: Span) -> Checked<()> {
        match !self.open_constants.is_empty() {
            true => Err(self.array_error(ArrayError::Constant { span })),
            false => Ok(()),
        }
    }

    pub(in crate::typed) fn array_error(&mut self, error: ArrayError) -> crate::typed::check::Reported {
        self.fail(TypeError::Array(error))
    }

    pub(in crate::typed) fn require(
        &mut self,
        condition: Expr,
        error: SizeError,
        text: &str,
        span: Span,
    ) -> Checked<()> {
        if constant_integer(&condition) == Some(1) {
            return Ok(());
        }
        self.writes_statements(span)?;
        let failure = Requirement { error, text: text.to_string() };
        self.emit(StatementKind::Require { condition, failure }, span);
        Ok(())
    }

    /// Two extents must be the same.
    pub(super) fn same_extent(&mut self, a: &Expr, b: &Expr, span: Span) -> Checked<()> {
        self.same_extent_or(a, b, ("arrays of different sizes are combined", SizeError::Mismatch), span)
    }

    /// The same with what is wrong where they are not.
    pub(in crate::typed) fn same_extent_or(
        &mut self,
        a: &Expr,
        b: &Expr,
        (wrong, error): (&str, SizeError),
        span: Span,
    ) -> Checked<()> {
        if same(a, b) {
            return Ok(());
        }
        if let (Some(left), Some(right)) = (constant_integer(a), constant_integer(b)) {
            return match left.max(0) == right.max(0) {
                true => Ok(()),
                false => {
                    let (left, right) = (format!("{left} elements"), format!("{right} elements"));
                    Err(self.array_error(ArrayError::Mismatch { left, right, span }))
                }
            };
        }
        let equal = compare(CompareOp::Eq, clamped(a.clone().placed(span)), clamped(b.clone().placed(span)), span);
        self.require(equal, error, wrong, span)
    }

    /// An axis of one element is stretched in a broadcast: where one is seen only at run time, the original function runs.
    pub(super) fn require_unstretched(&mut self, a: &Expr, b: &Expr, which: Stretched, span: Span) -> Checked<()> {
        let is_known = |extent: &Expr| constant_integer(extent).is_some();
        if same(a, b) || is_known(a) && is_known(b) {
            return Ok(());
        }
        let [a, b] = [a, b].map(|extent| clamped(extent.clone().placed(span)));
        let several = |extent: &Expr| match constant_integer(extent) {
            Some(count) => Expr::constant(Constant::bool(count != 1), span),
            None => compare(CompareOp::Ne, extent.clone(), Expr::int64(1, span), span),
        };
        let unstretched = match which {
            Stretched::Second => several(&b),
            Stretched::Either => binary(BinaryOp::AndAlso, several(&a), several(&b), span),
        };
        let condition = binary(BinaryOp::OrElse, compare(CompareOp::Eq, a, b, span), unstretched, span);
        self.require(condition, SizeError::Thrown, "an axis that happens to have one element is stretched", span)
    }

    /// The shape of operands that are combined element by element.
    pub(super) fn common_extents(&mut self, operands: &[Elements], span: Span) -> Checked<Vec<Expr>> {
        let rank = operands.iter().map(Elements::rank).max().unwrap_or(0);
        let mut extents = vec![];
        for axis in 0..rank {
            let mut along = operands.iter().filter_map(|operand| operand.extents.get(axis));
            let Some(first) = along.clone().find(|extent| !is_one(extent)).or_else(|| along.next()).cloned() else {
                continue;
            };
            let others: Vec<Expr> = operands.iter().filter_map(|operand| operand.extents.get(axis).cloned()).collect();
            for other in others.iter().filter(|other| !is_one(other)) {
                self.require_unstretched(&first, other, Stretched::Either, span)?;
                self.same_extent(&first, other, span)?;
            }
            extents.push(first);
        }
        self.same_axes(&operands.iter().collect::<Vec<_>>(), span)?;
        Ok(extents)
    }

    /// Operands of `A + B` must have one shape, without any stretching.
    pub(super) fn equal_extents(&mut self, a: &Elements, b: &Elements, span: Span) -> Checked<()> {
        if a.rank() != b.rank() {
            let (left, right) = (dimensions(a.rank()), dimensions(b.rank()));
            return Err(self.array_error(ArrayError::Mismatch { left, right, span }));
        }
        let pairs: Vec<(Expr, Expr)> = a.extents.iter().cloned().zip(b.extents.iter().cloned()).collect();
        pairs.iter().try_for_each(|(a, b)| self.same_extent(a, b, span))
    }
}

/// Which of two operands of a broadcast may have its only element repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stretched {
    Either,
    /// The first one is assigned to.
    Second,
}

pub(super) fn dimensions(rank: usize) -> String {
    if rank == 1 { "1 dimension".to_string() } else { format!("{rank} dimensions") }
}
