//! What subscripts count from: 1, but for arguments whose first indices are given at run time.
//!
//! Inside [`Elements`] places count from 1 always. First indices matter where the user sees them: in subscripts, in
//! `axes` and its kin, and where Julia compares axes.

use super::shape::{clamped, is_one, plus, same};
use super::{ArrayError, Axis, Elements, Part, Recipe};
use crate::typed::check::{Checked, Checker};
use crate::typed::compare::compare;
use crate::typed::constant::folded;
use crate::typed::operator::binary;
use crate::typed::tree::{Expr, ExprKind, Firsts, LocalId, SizeError, Type};
use crate::typed::value::RangeValue;
use tessella_diagnostics::Span;
use tessella_scalar::{BinaryOp, CompareOp, ScalarType};

impl Checker<'_> {
    /// The first index along an axis of an array.
    pub(in crate::typed) fn first_of(&self, array: LocalId, axis: usize, span: Span) -> Expr {
        match self.local(array).ty {
            Type::Array { form, .. } if form.firsts == Firsts::Free => {
                let kind = ExprKind::First { array, axis: axis as u32 };
                Expr { kind, ty: ScalarType::I64, span }
            }
            Type::Array { .. } | Type::Scalar(_) => Expr::int64(1, span),
        }
    }

    /// The first index along each axis, as the user sees it.
    pub(in crate::typed) fn firsts(&self, of: &Elements) -> Vec<Expr> {
        let one = Expr::int64(1, of.span);
        match &of.recipe {
            Recipe::Part(part) if part.flat => vec![one; of.rank()],
            Recipe::Part(part) => part
                .axes
                .iter()
                .enumerate()
                .filter_map(|(number, axis)| match axis {
                    Axis::At(_) => None,
                    Axis::Along { whole: true, .. } => Some(self.first_of(part.array, number, of.span)),
                    Axis::Along { whole: false, .. } => Some(one.clone()),
                })
                .collect(),
            // The axis of an array is its own axis; any other range counts from 1.
            Recipe::Range(range) if is_axis(range) => vec![range.start.clone()],
            Recipe::Range(_)
            | Recipe::Fill(_)
            | Recipe::Undefined
            | Recipe::Scalar(_)
            | Recipe::Rows(_)
            | Recipe::Slices { .. }
            | Recipe::Row(_) => vec![one; of.rank()],
            Recipe::Numbering(of) => self.firsts(of),
            Recipe::Transposed(inner) => {
                let mut firsts = self.firsts(inner);
                firsts.reverse();
                if firsts.len() == 1 {
                    firsts.insert(0, one);
                }
                firsts
            }
            Recipe::Apply { operands, .. } => (0..of.rank())
                .map(|axis| {
                    let mut along = operands.iter().filter(|operand| operand.rank() > axis);
                    let chosen = along.clone().find(|operand| !is_one(&operand.extents[axis])).or_else(|| along.next());
                    chosen.map_or_else(|| one.clone(), |operand| self.firsts(operand)[axis].clone())
                })
                .collect(),
            Recipe::Comprehension { sources, .. } => {
                sources.iter().flat_map(|(_, source)| self.firsts(source)).collect()
            }
        }
    }

    /// `axes(elements, axis)`.
    pub(in crate::typed) fn axis_range(&self, elements: &Elements, axis: usize) -> RangeValue {
        let span = elements.span;
        let start = self.firsts(elements)[axis].clone().placed(span);
        let extent = clamped(elements.extents[axis].clone().placed(span));
        RangeValue { stop: last_of(&start, extent), start, step: 1 }
    }

    /// Operands that are combined element by element must have the same axes, not only as many elements.
    pub(super) fn same_axes(&mut self, operands: &[&Elements], span: Span) -> Checked<()> {
        let rank = operands.iter().map(|operand| operand.rank()).max().unwrap_or(0);
        for axis in 0..rank {
            let along = operands.iter().filter(|operand| operand.extents.get(axis).is_some_and(|it| !is_one(it)));
            let along: Vec<(Expr, &Expr)> =
                along.map(|operand| (self.firsts(operand)[axis].clone(), &operand.extents[axis])).collect();
            for (other, extent) in along.iter().skip(1).filter(|(other, _)| !same(other, &along[0].0)) {
                let equal = compare(CompareOp::Eq, along[0].0.clone().placed(span), other.clone().placed(span), span);
                // Axes without elements are equal wherever they begin.
                let empty = compare(CompareOp::Le, (*extent).clone().placed(span), Expr::int64(0, span), span);
                let fits = binary(BinaryOp::OrElse, empty, equal, span);
                self.require(fits, SizeError::Mismatch, "arrays of different axes are combined", span)?;
            }
        }
        Ok(())
    }

    /// Arrays made inside count from 1: one that would have the axes of another kind is refused.
    pub(in crate::typed) fn made_from_one(&mut self, like: &Elements, span: Span) -> Checked<()> {
        match self.firsts(like).iter().all(is_one) {
            true => Ok(()),
            false => Err(self.array_error(ArrayError::OffsetMade { span })),
        }
    }

    /// The same elements with subscripts that count from 1.
    pub(super) fn counted_from_one(&self, mut elements: Elements) -> Elements {
        if self.firsts(&elements).iter().all(is_one) {
            return elements;
        }
        match &mut elements.recipe {
            Recipe::Part(Part { axes, .. }) => {
                for axis in axes {
                    if let Axis::Along { whole, .. } = axis {
                        *whole = false;
                    }
                }
            }
            Recipe::Transposed(inner) => **inner = self.counted_from_one((**inner).clone()),
            Recipe::Numbering(of) => **of = self.counted_from_one((**of).clone()),
            Recipe::Apply { operands, .. } => {
                let counted = operands.iter().map(|operand| self.counted_from_one(operand.clone())).collect();
                *operands = counted;
            }
            Recipe::Range(_)
            | Recipe::Fill(_)
            | Recipe::Undefined
            | Recipe::Scalar(_)
            | Recipe::Rows(_)
            | Recipe::Slices { .. }
            | Recipe::Row(_)
            | Recipe::Comprehension { .. } => {}
        }
        elements
    }
}

/// Whether it is an axis of an argument with first indices of its own.
pub(in crate::typed) fn is_axis(range: &RangeValue) -> bool {
    let ExprKind::First { array, axis } = range.start.kind else { return false };
    let extent = Expr { kind: ExprKind::Size { array, axis }, ty: ScalarType::I64, span: range.stop.span };
    range.step == 1 && same(&range.stop, &last_of(&range.start, extent))
}

/// The last of `extent` indices that begin with `first`.
pub(super) fn last_of(first: &Expr, extent: Expr) -> Expr {
    if is_one(first) {
        return extent;
    }
    let span = extent.span;
    plus(folded(binary(BinaryOp::Add, first.clone().placed(span), extent, span)), -1)
}

/// The subscript, counting from `first`, of a place that counts from 1.
pub(super) fn place_with(place: Expr, first: &Expr) -> Expr {
    if is_one(first) {
        return place;
    }
    let span = place.span;
    plus(folded(binary(BinaryOp::Add, place, first.clone().placed(span), span)), -1)
}

/// The place, from 1, of a subscript that counts from `first`.
pub(super) fn place_of(subscript: Expr, first: &Expr) -> Expr {
    if is_one(first) {
        return subscript;
    }
    let span = subscript.span;
    plus(folded(binary(BinaryOp::Sub, subscript, first.clone().placed(span), span)), 1)
}
