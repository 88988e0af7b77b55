//! For which parameters every access stays inside its array.

use crate::affine::Affine;
use crate::algorithm::{AccessRef, Algorithm, ArrayKind};
use crate::error::{Error, LayoutError};
use crate::isl::{Ctx, DimType, Set};
use crate::known::Known;
use crate::relation;
use crate::verify::EntryCheck;
use std::collections::BTreeSet;

/// Parameters among which are all those that pass the checks at entry: there are others where these would be a union of many pieces.
pub fn passing(ctx: &Ctx, algorithm: &Algorithm) -> Result<Set, Error> {
    let mut passing = algorithm.context.clone();
    for check in entry_checks(ctx, algorithm)? {
        let next = passing.intersect(&check.holds)?.coalesce()?;
        if next.basic_set_count()? <= MOST_PASSING {
            passing = next;
        }
    }
    Ok(passing)
}

/// What passes in more pieces is not made use of.
const MOST_PASSING: u32 = 8;

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
    let mut looked_at = LookedAt::default();
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
        let axes = looked_at.new_axes(algorithm, at)?;
        if axes.is_empty() {
            continue;
        }
        let touched = relation::access(ctx, algorithm, at.computation, access)?.range()?;
        let inside = relation::index_set(ctx, algorithm, access.array)?;
        if touched.is_subset(&inside)? {
            continue;
        }
        for axis in axes {
            let Some(holds) = axis_holds(algorithm, at, axis, &touched, &inside)? else { continue };
            if known.implies(&holds)? {
                continue;
            }
            known.learn(&holds)?;
            let runs = touched.params()?;
            let runs = runs.intersect(&relation::concerning(&algorithm.context, &relation::involved(&runs)?)?)?;
            let needs = holds.gist(&runs)?.coalesce()?;
            checks.push(EntryCheck { access: at, axis, holds, needs });
        }
    }
    Ok(checks)
}

/// Subscripts that have been looked at: statements of one nest read the same elements of many arrays, or planes of one.
#[derive(Default)]
struct LookedAt {
    /// Domains without the names of their computations.
    domains: Vec<Set>,
    /// Position of the domain, the subscript, and the first and the last one that the axis has.
    axes: BTreeSet<(usize, Affine, Affine, Affine)>,
}

impl LookedAt {
    /// The axes of an access whose subscripts have not been looked at for the same instances.
    fn new_axes(&mut self, algorithm: &Algorithm, at: AccessRef) -> Result<Vec<u32>, Error> {
        let access = algorithm.access(at);
        let array = algorithm.array(access.array);
        let all = array.kind.outer()..array.rank;
        // Extents of local arrays may depend on subscripts of other axes.
        if access.within.is_some() || array.kind.outer() > 0 {
            return Ok(all.collect());
        }
        let domain = relation::domain(algorithm, at.computation)?.reset_tuple_id()?;
        let mut position = 0;
        while position < self.domains.len() && !self.domains[position].is_plainly_equal(&domain)? {
            position += 1;
        }
        if position == self.domains.len() {
            self.domains.push(domain);
        }
        Ok(all
            .filter(|&axis| {
                let Some(subscript) = access.subscripts[axis as usize].as_affine() else { return true };
                let (first, last) = array.limits(axis);
                self.axes.insert((position, subscript.clone(), first, last))
            })
            .collect())
    }
}

/// The condition on one axis, looked at alone; `None` where it always holds.
fn axis_holds(
    algorithm: &Algorithm,
    access: AccessRef,
    axis: u32,
    touched: &Set,
    inside: &Set,
) -> Result<Option<Set>, Error> {
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
    let context = relation::concerning(&algorithm.context, &relation::involved(&outside)?)?;
    let holds = context.subtract(&outside)?.gist(&context)?.coalesce()?;
    if holds.intersect(&context)?.is_empty()? {
        return Err(LayoutError::NeverInside { access, axis }.into());
    }
    Ok(Some(holds))
}
