//! Which pairs of instances run in a known order, whatever order unordered loops take.

use crate::affine::Affine;
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::isl::{Ctx, Map};
use crate::legality;
use crate::relation;
use crate::schedule::Schedule;

/// The pairs of `pairs` (`{ S[x] -> R[y] }`) of which `S[x]` is certain to run before `R[y]`: a loop that keeps its
/// order separates them, or a sequence in one iteration of all loops that they share.
pub(super) fn certainly_before(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    (first, second): (ComputationId, ComputationId),
    pairs: &Map,
) -> Result<Map, Error> {
    let value = relation::param_space(ctx, algorithm)?.add_unnamed_tuple(1)?;
    let (equal_to, less_than) = (Map::identity(&value.map_from_set()?)?, Map::lex_lt(&value)?);
    let mut result = pairs.subtract(pairs)?;
    let mut equal = pairs.clone();
    for it in legality::shared_loops(schedule, first, second) {
        let compare = |how: &Map| compare(ctx, algorithm, (first, &it.at[&first]), (second, &it.at[&second]), how);
        if it.tag.keeps_order() {
            result = result.union(&equal.intersect(&compare(&less_than)?)?)?;
        }
        equal = equal.intersect(&compare(&equal_to)?)?;
        if equal.is_empty()? {
            return Ok(result);
        }
    }
    if comes_first(schedule, first, second) {
        result = result.union(&equal)?;
    }
    Ok(result)
}

/// `{ S[x] -> R[y] : a(x) ? b(y) }`.
fn compare(
    ctx: &Ctx,
    algorithm: &Algorithm,
    (first, a): (ComputationId, &Affine),
    (second, b): (ComputationId, &Affine),
    how: &Map,
) -> Result<Map, Error> {
    let from = relation::function(ctx, algorithm, first, a)?;
    let to = relation::function(ctx, algorithm, second, b)?;
    Ok(from.apply_range(how)?.apply_range(&to.reverse()?)?)
}

/// Whether the tree puts all of `first` before `second` in one iteration of the loops that they share.
fn comes_first(schedule: &Schedule, first: ComputationId, second: ComputationId) -> bool {
    match (schedule.path_of(first), schedule.path_of(second)) {
        (Some(a), Some(b)) => a.0.iter().zip(&b.0).find(|(a, b)| a != b).is_some_and(|(a, b)| a < b),
        (_, None) | (None, _) => false,
    }
}
