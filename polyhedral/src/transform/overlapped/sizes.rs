//! The sizes that count: those for which the loop runs and all subscripts are inside.
//!
//! Subscripts are inside for sizes that make their array large enough, or that keep their statement from running. Of several statements
//! that is a union of dozens of pieces, and what is computed with one takes isl thousands of times longer than with a conjunction. So
//! tiles are made, and proved, for a conjunction [around](Sizes::around) these sizes. Among the others a statement may run beyond an array;
//! in the proof arrays have no end, and copies go as far as tiles do. Then they [end with their arrays](end_with_arrays).

use crate::algorithm::{Algorithm, ArrayId, ArrayKind, ComputationId};
use crate::bounds;
use crate::error::Error;
use crate::isl::{Ctx, DimType, Map, Set};
use crate::recompute::Role;
use crate::relation;
use crate::verify::EntryCheck;
use std::cell::RefCell;

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
    /// What [`Sizes::has_none_of`] found.
    none: RefCell<Vec<(Set, bool)>>,
    /// What [`Sizes::counting`] found, of instances without a name: dozens of statements may have the same.
    counted: RefCell<Vec<[Set; 2]>>,
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
        let runs = relation::hull(&runs.expect("a loop holds at least one computation").coalesce()?)?;
        let checks = bounds::entry_checks(ctx, algorithm)?;
        let required = algorithm.requirements.iter().map(|it| &it.holds);
        let mut holds: Vec<Set> = vec![];
        for it in required.chain(checks.iter().map(|it| &it.holds)) {
            let is_known = |known: &Set| known.is_plainly_equal(it);
            // Many statements touch the same elements.
            if !holds.iter().map(is_known).collect::<Result<Vec<_>, _>>()?.contains(&true) {
                holds.push(it.clone());
            }
        }
        let around = relation::conjunction_around(&algorithm.context.intersect(&runs)?, holds.iter())?;
        let mut are_exact = around.is_subset(&algorithm.context)?;
        for it in &holds {
            are_exact = are_exact && around.is_subset(it)?;
        }
        Ok(Sizes { runs, checks, around, are_exact, holds, none: RefCell::default(), counted: RefCell::default() })
    }

    /// Those of the sizes that count, without those that a test at entry refuses.
    pub(super) fn exactly(&self) -> Result<Set, Error> {
        if self.are_exact {
            return Ok(self.around.clone());
        }
        let all = self.holds.iter().try_fold(self.around.clone(), |all, it| all.intersect(it))?;
        Ok(all.coalesce()?)
    }

    /// The instances of a statement for sizes that count, where these are no more pieces than all of its instances.
    pub(super) fn counting(&self, instances: &Set) -> Result<Set, Error> {
        let unnamed = instances.reset_tuple_id()?;
        let found = self.counted.borrow().iter().find_map(|[known, counting]| match known.is_plainly_equal(&unnamed) {
            Ok(false) => None,
            Ok(true) => Some(Ok(counting.clone())),
            Err(error) => Some(Err(error)),
        });
        let counting = match found {
            Some(known) => known?,
            None => {
                let counting = self.count(&unnamed)?;
                self.counted.borrow_mut().push([unnamed, counting.clone()]);
                counting
            }
        };
        let counting = counting.set_tuple_id(&instances.tuple_id()?)?;
        let names = (0..instances.dim(DimType::Set)?).map(|at| Ok((at, instances.dim_name(DimType::Set, at)?)));
        names.collect::<Result<Vec<_>, Error>>()?.into_iter().try_fold(counting, |set, (at, name)| match name {
            Some(name) => Ok(set.set_dim_name(DimType::Set, at, &name)?),
            None => Ok(set),
        })
    }

    fn count(&self, instances: &Set) -> Result<Set, Error> {
        let mut counting = instances.clone();
        for it in &self.holds {
            if counting.params()?.is_subset(it)? {
                continue;
            }
            let fewer = counting.intersect_params(it)?.coalesce()?;
            if fewer.basic_set_count()? <= counting.basic_set_count()? {
                counting = fewer;
            }
        }
        Ok(counting)
    }

    /// Whether none of these sizes counts, as far as that is quickly seen: as long as one is left, it counts, or what rules it out rules out others.
    pub(super) fn has_none_of(&self, sizes: &Set) -> Result<bool, Error> {
        for (known, has_none) in self.none.borrow().iter() {
            if known.is_plainly_equal(sizes)? {
                return Ok(*has_none);
            }
        }
        let has_none = self.finds_none_of(sizes)?;
        self.none.borrow_mut().push((sizes.clone(), has_none));
        Ok(has_none)
    }

    fn finds_none_of(&self, sizes: &Set) -> Result<bool, Error> {
        for conjunction in sizes.intersect(&self.around)?.basic_sets()? {
            if !self.rules_out(Set::from_basic_set(&conjunction)?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether none of a conjunction counts, where conditions say so of which one alternative alone is left each time: others multiply the work.
    fn rules_out(&self, sizes: Set) -> Result<bool, Error> {
        let mut left = sizes;
        'narrower: while !left.is_empty()? {
            let one = Set::from_basic_set(&left.sample()?)?;
            for it in &self.holds {
                if one.is_subset(it)? {
                    continue;
                }
                let next = left.intersect(it)?;
                if next.basic_set_count()? <= 1 {
                    left = next;
                    continue 'narrower;
                }
            }
            return Ok(false);
        }
        Ok(true)
    }
}

/// Has copies copy what arrays have: they were made, and proved, for arrays without an end. For sizes that count no statement touches an element
/// beyond an array, and a copy of such an element is all that touches its place in a tile, so that nothing else changes without them. Copies
/// that have none of them for sizes that count stay as they are. Of many sizes, those that a test at entry finds equal become one.
pub(super) fn end_with_arrays(
    ctx: &Ctx,
    met: &Sizes,
    source: &Algorithm,
    roles: &[Role],
    new: &mut Algorithm,
) -> Result<(), Error> {
    let equal = relation::has_many_params(source).then(|| met.around.affine_hull()).transpose()?;
    let equal = equal.map(|equal| Set::from_basic_set(&equal)).transpose()?;
    for (id, role) in (0..).map(ComputationId).zip(roles) {
        let Role::Copies(snapshot) = role else { continue };
        let elements = relation::functions(ctx, new, id, &snapshot.subscripts)?;
        let Some(limits) = within(ctx, source, snapshot.array, &elements)? else { continue };
        let beyond = relation::domain(new, id)?.subtract(&limits)?;
        if !met.has_none_of(&beyond.params()?)? {
            let it = &mut new.computations[id.0 as usize];
            it.domain = it.domain.intersect(&limits)?.coalesce()?;
            if let Some(equal) = &equal {
                it.domain = it.domain.intersect_params(equal)?.gist_params(equal)?;
            }
        }
    }
    Ok(())
}

/// Where a map's elements are inside of their array; `None` for arrays without extents.
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
