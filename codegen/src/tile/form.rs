//! Which computations have a form on vectors, and what changes from lane to lane.

use crate::input::Input;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Access, ArrayId, ComputationId};
use tessella_polyhedral::expr::{Expr, ExprKind, runs_on_lanes};

/// Whether a computation can run on vectors: sums, products and quotients of floats, nothing that branches.
pub(super) fn has_vector_form(input: &Input<'_>, id: ComputationId, strides: &[i64]) -> bool {
    let computation = input.algorithm.computation(id);
    let stride = |access: &Access| lane_strides(access, strides);
    let Some(write) = stride(&computation.write) else { return false };
    let reads: Option<Vec<Vec<i64>>> = computation.reads.iter().map(stride).collect();
    let Some(reads) = reads else { return false };
    let mut form = Form { input, id, strides, reads: &reads };
    computation.predicate.is_none()
        && write.iter().any(|&stride| stride != 0)
        && input.algorithm.array(computation.write.array).element.is_float()
        && computation.lets.iter().all(|it| form.fits(&it.value))
        && form.fits(&computation.value)
}

/// Whether the lanes of an access lie side by side.
pub fn is_side_by_side(input: &Input<'_>, access: &Access, strides: &[i64]) -> bool {
    is_dense(input, access.array)
        && lane_strides(access, strides)
            .is_some_and(|all| all.iter().enumerate().all(|(axis, &stride)| stride == i64::from(axis == 0)))
}

/// Whether the first subscript of an array is the first axis of its buffer, as the source has it, and neighbours along it
/// lie side by side.
pub fn is_dense(input: &Input<'_>, array: ArrayId) -> bool {
    let placement = input.layout.placement(array);
    let has_stride = input.algorithm.array(array).strided.contains(&0);
    !has_stride
        && placement.map.first().is_some_and(|first| {
            first.coefficient(0) == 1
                && placement.map[1..].iter().all(|place| !place.involves_iterator(0))
                && first.terms().len() == 1
        })
}

/// What each subscript gains from lane to lane; `None` if that is not a constant.
pub fn lane_strides(access: &Access, strides: &[i64]) -> Option<Vec<i64>> {
    let each = access.subscripts.iter().map(|subscript| {
        let subscript = subscript.as_affine()?;
        let mut sum = 0i64;
        for (position, &stride) in strides.iter().enumerate().filter(|(_, stride)| **stride != 0) {
            let factor = subscript.coefficient(position as u32);
            let outside = subscript.sub(&Affine::iterator(position as u32).scale(factor).ok()?);
            if outside.ok()?.involves_iterator(position as u32) {
                return None;
            }
            sum = sum.checked_add(factor.checked_mul(stride)?)?;
        }
        Some(sum)
    });
    each.collect()
}

struct Form<'a> {
    input: &'a Input<'a>,
    id: ComputationId,
    strides: &'a [i64],
    reads: &'a [Vec<i64>],
}

impl Form<'_> {
    fn fits(&mut self, expr: &Expr) -> bool {
        if !varies(self.input, self.id, self.strides, expr) {
            return true;
        }
        let each = expr.operands().into_iter().all(|operand| self.fits(operand));
        let read_fits = |position: u32| {
            let read = &self.input.algorithm.computation(self.id).reads[position as usize];
            // Neighbours, or any other elements gathered one by one; not a scalar variable.
            !self.reads[position as usize].is_empty() && !self.input.layout.placement(read.array).map.is_empty()
        };
        each && runs_on_lanes(expr) && !matches!(expr.kind, ExprKind::Read(position) if !read_fits(position))
    }
}

/// Whether lanes may have different values of an expression.
pub fn varies(input: &Input<'_>, id: ComputationId, strides: &[i64], expr: &Expr) -> bool {
    let computation = input.algorithm.computation(id);
    let mut found = false;
    expr.walk(&mut |expr| {
        found |= match &expr.kind {
            ExprKind::Index(affine) => {
                (0u32..).zip(strides).any(|(at, &stride)| stride != 0 && affine.involves_iterator(at))
            }
            ExprKind::Read(position) => {
                let read = &computation.reads[*position as usize];
                lane_strides(read, strides).is_none_or(|all| all.iter().any(|&stride| stride != 0))
            }
            ExprKind::Let(position) => varies(input, id, strides, &computation.lets[*position as usize].value),
            _ => false,
        };
    });
    found
}
