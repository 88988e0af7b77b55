//! The sizes that count: those for which the loop runs and all subscripts are inside.
//!
//! Subscripts are inside for sizes that make their array large enough, or that keep their statement from running. Of several statements
//! that is a union of dozens of pieces, and what is computed with one takes isl thousands of times longer than with a conjunction. So
//! tiles are made, and proved, for a conjunction [around](Sizes::around) these sizes. Among the others a statement may run beyond an array;
//! in the proof it has only the instances that stay [inside]. For sizes that count those are all, which is tested.

use crate::algorithm::{Access, Algorithm, ArrayId, ArrayKind, ComputationId};
use crate::bounds;
use crate::error::Error;
use crate::isl::{Ctx, DimType, Id, Map, Set};
use crate::recompute::Role;
use crate::relation;
use crate::verify::EntryCheck;

/// The sizes that matter.
pub(super) struct Sizes {
    /// Those for which the loop runs at all: it has no statement for others, before and after.
    pub(super) runs: Set,
    /// What is tested at entry.
    pub(super) checks: Vec<EntryCheck>,
    /// A conjunction around those that count.
    pub(super) around: Set,
    /// Whether it has no others.
    pub(super) are_exact: bool,
    /// Those that count are in all of these.
    holds: Vec<Set>,
}

impl Sizes {
    /// The sizes that matter to a loop over these statements.
    pub(super) fn new(ctx: &Ctx, algorithm: &Algorithm, statements: &[ComputationId]) -> Result<Sizes, Error> {
        let mut runs: Option<Set> = None;
        for &id in statements {
            let own = relation::domain(algorithm, id)?.params()?;
            runs = Some(match runs {
                None => own,
                Some(others) => others.union(&own)?,
            });
        }
        let runs = hull(&runs.expect("a loop holds at least one computation").coalesce()?)?;
        let checks = bounds::entry_checks(ctx, algorithm)?;
        let required = algorithm.requirements.iter().map(|it| it.holds.clone());
        let holds: Vec<Set> = required.chain(checks.iter().map(|it| it.holds.clone())).collect();
        let mut around = hull(&algorithm.context.intersect(&runs)?.coalesce()?)?;
        // What the later ones say makes conjunctions of the earlier ones.
        for it in holds.iter().chain(&holds) {
            around = hull(&around.intersect(it)?.coalesce()?)?;
        }
        let mut are_exact = around.is_subset(&algorithm.context)?;
        for it in &holds {
            are_exact = are_exact && around.is_subset(it)?;
        }
        Ok(Sizes { runs, checks, around, are_exact, holds })
    }

    /// Those of the sizes that count, without those that a test at entry refuses.
    pub(super) fn exactly(&self) -> Result<Set, Error> {
        if self.are_exact {
            return Ok(self.around.clone());
        }
        let all = self.holds.iter().try_fold(self.around.clone(), |all, it| all.intersect(it))?;
        Ok(all.coalesce()?)
    }

    /// Whether none of these sizes counts.
    fn has_none_of(&self, sizes: &Set) -> Result<bool, Error> {
        let mut left = sizes.intersect(&self.around)?;
        for it in &self.holds {
            if left.is_empty()? {
                return Ok(true);
            }
            left = left.intersect(it)?.coalesce()?;
        }
        Ok(left.is_empty()?)
    }
}

fn hull(set: &Set) -> Result<Set, Error> {
    match set.basic_set_count()? {
        0 | 1 => Ok(set.clone()),
        _ => Ok(Set::from_basic_set(&set.simple_hull()?)?),
    }
}

/// Both programs with the instances alone whose subscripts are inside; for the sizes that count they are the same programs.
pub(super) fn inside(
    ctx: &Ctx,
    met: &Sizes,
    mut original: Algorithm,
    mut new: Algorithm,
    roles: &[Role],
) -> Result<(Algorithm, Algorithm), Error> {
    let (source, made) = (original.clone(), new.clone());
    for (id, role) in (0..).map(ComputationId).zip(roles) {
        match role {
            Role::Repeats(of) => {
                let computation = source.computation(*of);
                for access in computation.reads.iter().chain([&computation.write]).filter(|it| it.is_affine()) {
                    let Some(limits) = limits(ctx, &source, *of, access)? else { continue };
                    let kept = computation.iterators.len() as u32;
                    let rest = new.computation(id).iterators.len() as u32 - kept;
                    let longer = relation::domain_space(ctx, &new, id)?;
                    let shorter = Set::universe(&longer)?.identity()?.project_out(DimType::Out, kept, rest)?;
                    let shorter = shorter.set_tuple_id(DimType::Out, &Id::new(ctx, &computation.name)?)?;
                    let theirs = shorter.intersect_range(&limits)?.domain()?;
                    let (old, repeated) = (relation::domain(&original, *of)?, relation::domain(&new, id)?);
                    if old.is_subset(&limits)? && repeated.is_subset(&theirs)? {
                        continue;
                    }
                    let outside = [old.subtract(&limits)?.params()?, repeated.subtract(&theirs)?.params()?];
                    if !(met.has_none_of(&outside[0])? && met.has_none_of(&outside[1])?) {
                        return Ok((source.clone(), made));
                    }
                    let it = &mut original.computations[of.0 as usize];
                    it.domain = it.domain.intersect(&limits)?;
                    let it = &mut new.computations[id.0 as usize];
                    it.domain = it.domain.intersect(&theirs)?;
                }
            }
            Role::Copies(snapshot) => {
                let elements = relation::functions(ctx, &new, id, &snapshot.subscripts)?;
                let Some(limits) = within(ctx, &source, snapshot.array, &elements)? else { continue };
                let domain = relation::domain(&new, id)?;
                if domain.is_subset(&limits)? {
                    continue;
                }
                if met.has_none_of(&domain.subtract(&limits)?.params()?)? {
                    let it = &mut new.computations[id.0 as usize];
                    it.domain = it.domain.intersect(&limits)?;
                }
            }
        }
    }
    Ok((original, new))
}

/// The points at which an access stays inside of its array: `{ S[x] }`; `None` for arrays without extents.
fn limits(ctx: &Ctx, algorithm: &Algorithm, id: ComputationId, access: &Access) -> Result<Option<Set>, Error> {
    let subscripts: Vec<_> = access.subscripts.iter().filter_map(|it| it.as_affine().cloned()).collect();
    within(ctx, algorithm, access.array, &relation::functions(ctx, algorithm, id, &subscripts)?)
}

fn within(ctx: &Ctx, algorithm: &Algorithm, array: ArrayId, elements: &Map) -> Result<Option<Set>, Error> {
    match algorithm.array(array).kind {
        ArrayKind::Private | ArrayKind::Result => Ok(None),
        ArrayKind::Argument | ArrayKind::Local { .. } | ArrayKind::Returned => {
            let inside = relation::index_set(ctx, algorithm, array)?;
            let elements = elements.set_tuple_id(DimType::Out, &inside.tuple_id()?)?;
            Ok(Some(elements.intersect_range(&inside)?.domain()?))
        }
    }
}
