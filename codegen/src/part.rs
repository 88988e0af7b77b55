//! Copies of a part of an array: the box, and the sizes for which there is one.

use crate::error::CodegenError;
use crate::input::Input;
use crate::int_expr::IntExpr;
use crate::program::{Part, PartAxis};
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::isl::{IslError, Set};
use tessella_polyhedral::layers::{Lifetime, Transfer};

/// What isl may do to show that a box has no elements for sizes for which its copy is not needed.
const WORK: u64 = 100_000;

/// The box that a transfer copies, no more than the buffer has room for; `None` for a buffer that is no argument's.
pub fn part(input: &Input<'_>, transfer: &Transfer) -> Option<Part> {
    let buffer = input.layout.buffer(transfer.buffer);
    let Lifetime::Argument(id) = buffer.lifetime else { return None };
    let array = input.algorithm.array(id);
    let of = |affine: &Affine| IntExpr::from_affine(affine, &[]);
    let mut axes = vec![];
    for (axis, (elements, room)) in (0..).zip(array.extents.iter().zip(&buffer.extents)) {
        let (elements, room) = (input.extent(elements), input.extent(room));
        let (first, count) = match transfer.part.iter().find(|it| it.axis == axis) {
            None => (IntExpr::Const(0), elements.clone()),
            Some(it) => {
                let begin = array.first(axis);
                let first = it.first.iter().map(|first| match first.sub(&begin) {
                    Ok(first) => of(&first),
                    Err(_) => of(first).minus(of(&begin)),
                });
                let plain = match (it.first.as_slice(), it.last.as_slice()) {
                    ([first], [last]) => last.sub(first).and_then(|it| it.add_constant(1)).ok(),
                    _ => None,
                };
                let count = plain.map_or_else(
                    || {
                        let (first, last) = (it.first.iter().map(of), it.last.iter().map(of));
                        IntExpr::max_of(last).minus(IntExpr::min_of(first)).plus(IntExpr::Const(1))
                    },
                    |count| of(&count),
                );
                (IntExpr::min_of(first), count)
            }
        };
        let count = if buffer.is_box(input.algorithm) { within(&first, count, &room) } else { count };
        axes.push(PartAxis { first, count, elements, room });
    }
    Some(Part { before: input.free_before(id), axes })
}

/// As many places from the first one on as there is room for.
fn within(first: &IntExpr, count: IntExpr, room: &IntExpr) -> IntExpr {
    let left = room.clone().minus(first.clone());
    match (&left, &count) {
        (IntExpr::Const(left), IntExpr::Const(count)) if count <= left => IntExpr::Const(*count),
        _ => IntExpr::min_of([count, left]),
    }
}

/// The parameters to ask about before a part is copied; `None` if there is nothing in it where the copy is not needed.
pub fn needed(input: &Input<'_>, transfer: &Transfer) -> Result<Option<Set>, CodegenError> {
    let Some(needed) = &transfer.needed else { return Ok(None) };
    let ctx = needed.ctx();
    let simpler = || -> Result<Option<Set>, IslError> {
        let some = elements_for(input, transfer)?;
        let needed = needed.gist(&input.context()?.intersect(&some)?)?;
        Ok(if is_implied(input, &some, &needed)? { None } else { Some(needed) })
    };
    match ctx.with_budget(WORK, simpler) {
        Err(error) if error.is_quota() => Ok(Some(needed.clone())),
        found => Ok(found?),
    }
}

/// The parameters for which a transfer's part has elements.
fn elements_for(input: &Input<'_>, transfer: &Transfer) -> Result<Set, IslError> {
    let mut some = input.algorithm.context.clone();
    let Lifetime::Argument(id) = input.layout.buffer(transfer.buffer).lifetime else { return Ok(some) };
    let (array, names) = (input.algorithm.array(id), input.algorithm.param_names());
    // No tuple: only parameters.
    let space = input.algorithm.context.space()?.add_unnamed_tuple(0)?;
    let at_most = |lower: &Affine, upper: &Affine| -> Result<Set, IslError> {
        lower.to_isl(&space, &names)?.le_set(&upper.to_isl(&space, &names)?)?.params()
    };
    for axis in 0..array.rank {
        let (first, last) = match transfer.part.iter().find(|it| it.axis == axis) {
            None => {
                let (first, last) = array.limits(axis);
                (vec![first], vec![last])
            }
            Some(it) => (it.first.clone(), it.last.clone()),
        };
        let mut along = Set::empty(&some.space()?)?;
        for (first, last) in first.iter().flat_map(|first| last.iter().map(move |last| (first, last))) {
            along = along.union(&at_most(first, last)?)?;
        }
        some = some.intersect(&along)?;
    }
    Ok(some)
}

/// Whether a condition holds for all of these parameters that pass the checks at entry.
fn is_implied(input: &Input<'_>, some: &Set, condition: &Set) -> Result<bool, IslError> {
    let mut some = some.clone();
    let requirements = input.algorithm.requirements.iter().map(|it| &it.holds);
    for holds in requirements.chain(input.checks.iter().map(|it| &it.holds)) {
        some = some.intersect(holds)?;
    }
    some.is_subset(condition)
}
