//! For which parameters every access stays inside its array.

use crate::algorithm::{AccessRef, Algorithm, ArrayKind};
use crate::error::{Error, LayoutError};
use crate::isl::{Ctx, DimType, Set};
use crate::known::Known;
use crate::relation;
use crate::verify::EntryCheck;

/// The conditions under which each checked subscript of each access to an argument or local array is inside.
///
/// Conditions that always hold, or that follow from those before them, are left out. Those of accesses that happen for
/// certain come before those of accesses that data decide about: one that holds only if both do is then known for certain.
///
/// # Errors
/// [`LayoutError::NeverInside`] for a subscript that is outside for all parameters for which it is evaluated.
pub fn entry_checks(ctx: &Ctx, algorithm: &Algorithm) -> Result<Vec<EntryCheck>, Error> {
    let mut checks: Vec<EntryCheck> = vec![];
    let mut known = Known::new(&algorithm.context);
    for requirement in &algorithm.requirements {
        known.learn(&requirement.holds)?;
    }
    let (uncertain, certain): (Vec<AccessRef>, Vec<AccessRef>) =
        algorithm.accesses().partition(|&at| algorithm.access(at).conditional);
    for at in certain.into_iter().chain(uncertain) {
        let access = algorithm.access(at);
        let array = algorithm.array(access.array);
        let has_extents = match array.kind {
            ArrayKind::Argument | ArrayKind::Local { .. } | ArrayKind::Returned => true,
            ArrayKind::Private | ArrayKind::Result => false,
        };
        if !has_extents || !access.checked {
            continue;
        }
        let touched = relation::access(ctx, algorithm, at.computation, access)?.range()?;
        let inside = relation::index_set(ctx, algorithm, access.array)?;
        if touched.is_subset(&inside)? {
            continue;
        }
        for axis in array.kind.outer()..array.rank {
            let Some(check) = axis_check(algorithm, at, axis, &touched, &inside)? else { continue };
            if !known.implies(&check.holds)? {
                known.learn(&check.holds)?;
                checks.push(check);
            }
        }
    }
    Ok(checks)
}

/// The condition on one axis, looked at alone.
fn axis_check(
    algorithm: &Algorithm,
    access: AccessRef,
    axis: u32,
    touched: &Set,
    inside: &Set,
) -> Result<Option<EntryCheck>, Error> {
    let array = algorithm.array(algorithm.access(access).array);
    let (rank, outer) = (array.rank, array.kind.outer());
    // The extent may depend on the iterators among a local array's subscripts.
    let alone = |set: &Set| -> Result<Set, Error> {
        let set = set.project_out(DimType::Set, axis + 1, rank - axis - 1)?;
        Ok(set.project_out(DimType::Set, outer, axis - outer)?)
    };
    // `inside` is a box that may be empty because of another axis: take only this axis's constraints.
    let mut own = inside.clone();
    for other in (outer..rank).filter(|&other| other != axis) {
        own = own.drop_constraints_involving_dims(DimType::Set, other, 1)?;
    }
    let outside = alone(touched)?.subtract(&alone(&own)?)?.params()?;
    if outside.is_empty()? {
        return Ok(None);
    }
    let holds = algorithm.context.subtract(&outside)?.gist(&algorithm.context)?.coalesce()?;
    let runs = touched.params()?.intersect(&algorithm.context)?;
    let needs = holds.gist(&runs)?.coalesce()?;
    if holds.intersect(&algorithm.context)?.is_empty()? {
        return Err(LayoutError::NeverInside { access, axis }.into());
    }
    Ok(Some(EntryCheck { access, axis, holds, needs }))
}
