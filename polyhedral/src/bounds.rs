//! For which parameters every access stays inside its array.

use crate::algorithm::{AccessRef, Algorithm, ArrayKind};
use crate::error::{Error, LayoutError};
use crate::isl::{Ctx, DimType};
use crate::relation;
use crate::verify::EntryCheck;

/// The conditions under which each checked subscript of each access to an argument is inside.
///
/// Conditions that always hold are left out, equal ones are given once (for the first access).
///
/// # Errors
/// [`LayoutError::NeverInside`] for a subscript that is outside for all parameters for which it is evaluated.
pub fn entry_checks(ctx: &Ctx, algorithm: &Algorithm) -> Result<Vec<EntryCheck>, Error> {
    let mut checks: Vec<EntryCheck> = vec![];
    for at in algorithm.accesses() {
        let access = algorithm.access(at);
        let array = algorithm.array(access.array);
        if array.kind != ArrayKind::Argument || !access.checked {
            continue;
        }
        let touched = relation::access(ctx, algorithm, at.computation, access)?.range()?;
        let inside = relation::index_set(ctx, algorithm, access.array)?;
        if touched.is_subset(&inside)? {
            continue;
        }
        for axis in 0..array.rank {
            if let Some(check) = axis_check(algorithm, at, axis, &touched, &inside)? {
                let known = checks.iter().try_fold(false, |found, other| Ok::<_, Error>(found || other.holds.is_equal(&check.holds)?))?;
                if !known {
                    checks.push(check);
                }
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
    touched: &crate::isl::Set,
    inside: &crate::isl::Set,
) -> Result<Option<EntryCheck>, Error> {
    let rank = algorithm.array(algorithm.access(access).array).rank;
    let alone = |set: &crate::isl::Set| -> Result<crate::isl::Set, Error> {
        let set = set.project_out(DimType::Set, axis + 1, rank - axis - 1)?;
        Ok(set.project_out(DimType::Set, 0, axis)?)
    };
    // `inside` is a box that may be empty because of another axis: take only this axis's constraints.
    let mut own = inside.clone();
    for other in (0..rank).filter(|&other| other != axis) {
        own = own.drop_constraints_involving_dims(DimType::Set, other, 1)?;
    }
    let outside = alone(touched)?.subtract(&alone(&own)?)?.params()?;
    if outside.is_empty()? {
        return Ok(None);
    }
    let holds = algorithm.context.subtract(&outside)?.gist(&algorithm.context)?.coalesce()?;
    if holds.intersect(&algorithm.context)?.is_empty()? {
        return Err(LayoutError::NeverInside { access, axis }.into());
    }
    Ok(Some(EntryCheck { access, axis, holds }))
}
