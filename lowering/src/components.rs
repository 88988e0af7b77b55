//! Arrays whose last axis holds components, `q[i, j, 1]` and `q[i, j, 2]`: each of them is a field of a stencil, and where one has a step, all
//! have to be there.
//!
//! What statements touch makes sure of that for nearly all sizes. For others, such as a plane of one row, where the second component has no
//! points, an array without it is one that the source is right with: the original function runs there.

use crate::spans::SpanTable;
use std::collections::{BTreeMap, BTreeSet};
use tessella_diagnostics::Span;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Access, Algorithm, ArrayId, ArrayKind, Requirement, SizeError};
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::{Ctx, Set};
use tessella_polyhedral::relation;

/// Requires that where any loop runs arrays have all components that the function names; `span` is the function's.
pub(crate) fn require(ctx: &Ctx, algorithm: &mut Algorithm, spans: &mut SpanTable, span: Span) -> Result<(), Error> {
    let all = highest(algorithm);
    if all.is_empty() {
        return Ok(());
    }
    let space = relation::param_space(ctx, algorithm)?;
    let mut runs = Set::empty(&space)?;
    for id in algorithm.ids().filter(|&id| algorithm.computation(id).iterators.len() > 1) {
        runs = runs.union(&relation::domain(algorithm, id)?.params()?)?;
    }
    let runs = runs.coalesce()?;
    for (array, highest) in all {
        let it = algorithm.array(array);
        let extent = it.extents.last().expect("components lie along an axis");
        let extent = extent.to_isl(&space, &algorithm.param_names())?;
        let there = extent.ge_set(&Affine::constant(highest).to_isl(&space, &algorithm.param_names())?)?;
        let fails = outside(ctx, algorithm, array)?.union(&there)?.complement()?.intersect(&runs)?;
        let fails = fails.intersect_params(&algorithm.context)?.coalesce()?;
        if fails.is_empty()? {
            continue;
        }
        let holds = runs.complement()?.union(&there)?.gist(&algorithm.context)?.coalesce()?;
        let text = format!("`{}` has no component {highest}", it.name);
        algorithm.requirements.push(Requirement { holds, error: SizeError::Thrown, text, inside: None });
        spans.requirements.push(span);
    }
    Ok(())
}

/// The arguments that are written, and whose last axis constants alone name, with the highest one of several.
fn highest(algorithm: &Algorithm) -> BTreeMap<ArrayId, i64> {
    let mut named: BTreeMap<ArrayId, Option<BTreeSet<i64>>> = BTreeMap::new();
    for at in algorithm.accesses() {
        let access = algorithm.access(at);
        let component = component(access).filter(|_| access.checked);
        let all = named.entry(access.array).or_insert(Some(BTreeSet::new()));
        *all = all.take().zip(component).map(|(mut all, component)| {
            all.insert(component);
            all
        });
    }
    let is_argument =
        |array: ArrayId| algorithm.array(array).kind == ArrayKind::Argument && algorithm.is_written(array);
    let several = named.into_iter().filter_map(|(array, named)| Some((array, named.filter(|all| all.len() > 1)?)));
    several
        .filter(|(array, all)| is_argument(*array) && all.first() >= Some(&1))
        .filter_map(|(array, all)| Some((array, *all.last()?)))
        .collect()
}

/// The constant along the last of several axes.
fn component(access: &Access) -> Option<i64> {
    let (last, others) = access.subscripts.split_last()?;
    last.as_affine()?.as_constant().filter(|_| !others.is_empty())
}

/// The parameters for which something is sure to touch an element that the array lacks; checks at entry find that.
fn outside(ctx: &Ctx, algorithm: &Algorithm, array: ArrayId) -> Result<Set, Error> {
    let inside = relation::index_set(ctx, algorithm, array)?;
    let mut outside = Set::empty(&relation::param_space(ctx, algorithm)?)?;
    for at in algorithm.accesses() {
        let access = algorithm.access(at);
        if access.array == array && !access.conditional {
            let touched = relation::access(ctx, algorithm, at.computation, access)?.range()?;
            outside = outside.union(&touched.subtract(&inside)?.params()?)?;
        }
    }
    Ok(outside)
}
