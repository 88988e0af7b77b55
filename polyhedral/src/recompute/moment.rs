//! When things happen: instances before others, and before moments of the original.

use super::Snapshot;
use super::flow::Flows;
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::isl::{Ctx, Map, Set};
use crate::relation;
use crate::schedule::{Node, Path, Schedule};

/// `{ one[y] -> other[x] }`: the first runs before the second, as conjunctions.
pub(super) fn before(
    ctx: &Ctx,
    flows: &Flows<'_>,
    one: ComputationId,
    other: ComputationId,
) -> Result<Vec<Map>, Error> {
    let algorithm = flows.algorithm;
    let order = &algorithm.source_order;
    let path = |id| order.path_of(id).expect("every computation has a leaf in the schedule tree");
    let (path_of_one, path_of_other) = (path(one), path(other));
    let instances = |id| -> Result<Set, Error> { Ok(Set::universe(&relation::domain_space(ctx, algorithm, id)?)?) };
    let mut together = flows.narrow(Map::from_domain_and_range(&instances(one)?, &instances(other)?)?)?;
    let mut found = vec![];
    for (level, (step, step_of_other)) in path_of_one.0.iter().zip(&path_of_other.0).enumerate() {
        match order.node(&Path(path_of_one.0[..level].to_vec())) {
            Some(Node::Loop(it)) => {
                let at = |id| flows.narrow(relation::function(ctx, algorithm, id, &it.at[&id])?);
                let (at_one, at_other) = (at(one)?, at(other)?);
                // Where what is below a loop tells which comes first, one conjunction holds all pairs.
                if let Some(is_first) = parting(order, &path_of_one, &path_of_other, level + 1) {
                    let earlier = if is_first { at_one.lex_le_at(&at_other)? } else { at_one.lex_lt_at(&at_other)? };
                    found.push(together.intersect(&earlier)?);
                    return Ok(found);
                }
                found.push(together.intersect(&at_one.lex_lt_at(&at_other)?)?);
                together = together.intersect(&at_one.apply_range(&at_other.reverse()?)?)?;
            }
            Some(Node::Sequence(_) | Node::Computation(_)) | None if step != step_of_other => {
                if step < step_of_other {
                    found.push(together);
                }
                return Ok(found);
            }
            Some(Node::Sequence(_) | Node::Computation(_)) | None => {}
        }
    }
    Ok(found)
}

/// Whether the first of two computations comes first, where sequences alone tell below this level.
fn parting(order: &Schedule, one: &Path, other: &Path, level: usize) -> Option<bool> {
    for (level, (step, step_of_other)) in one.0.iter().zip(&other.0).enumerate().skip(level) {
        match order.node(&Path(one.0[..level].to_vec())) {
            Some(Node::Sequence(_)) if step != step_of_other => return Some(step < step_of_other),
            Some(Node::Sequence(_)) => {}
            Some(Node::Loop(_) | Node::Computation(_)) | None => return None,
        }
    }
    None
}

/// On which sides of a moment instances lie, `{ S[x] -> V[z] }` with the moment of `S[x]`, as conjunctions.
pub(super) struct Sides {
    /// `V[z]` runs before the moment.
    pub(super) before: Vec<Map>,
    /// `V[z]` runs after it.
    pub(super) after: Vec<Map>,
}

/// The sides of a snapshot's moment, for the instances of a computation of `new` that has it.
pub(super) fn of_snapshot(
    flows: &Flows<'_>,
    new: &Algorithm,
    id: ComputationId,
    snapshot: &Snapshot,
    other: ComputationId,
) -> Result<Sides, Error> {
    let (ctx, algorithm) = (flows.ctx, flows.algorithm);
    let order = &algorithm.source_order;
    let path = order.path_of(other).expect("every computation has a leaf in the schedule tree");
    let copies = Set::universe(&relation::domain_space(ctx, new, id)?)?;
    let instances = Set::universe(&relation::domain_space(ctx, algorithm, other)?)?;
    let mut together = flows.narrow(Map::from_domain_and_range(&copies, &instances)?)?;
    let mut sides = Sides { before: vec![], after: vec![] };
    let step_at =
        |level: usize| match (order.node(&Path(path.0[..level.min(path.0.len())].to_vec())), path.0.get(level)) {
            (Some(Node::Loop(it)), Some(_)) => it.at[&other].clone(),
            (_, Some(&child)) => Affine::constant(child as i64),
            (_, None) => Affine::constant(0),
        };
    // Of steps and moments as far as they are numbers, whether the first that differ have the step before the moment; the moment is just before
    // what stands there.
    let is_before = |from: usize| -> Option<bool> {
        for (level, moment) in snapshot.moment.iter().enumerate().skip(from) {
            let (moment, step) = (moment.as_constant()?, step_at(level).as_constant()?);
            if step != moment {
                return Some(step < moment);
            }
        }
        Some(false)
    };
    for (level, moment) in snapshot.moment.iter().enumerate() {
        if let Some(is_before) = is_before(level) {
            let side = if is_before { &mut sides.before } else { &mut sides.after };
            side.push(together);
            return Ok(sides);
        }
        let step = step_at(level);
        if moment.as_constant().is_some() && moment.as_constant() == step.as_constant() {
            continue;
        }
        let at_moment = flows.narrow(relation::function(ctx, new, id, moment)?)?;
        let at_step = flows.narrow(relation::function(ctx, algorithm, other, &step)?)?;
        // Where numbers tell the rest, one conjunction holds all instances on a side.
        if let Some(is_before) = is_before(level + 1) {
            let (before, after) = match is_before {
                true => (at_moment.lex_ge_at(&at_step)?, at_moment.lex_lt_at(&at_step)?),
                false => (at_moment.lex_gt_at(&at_step)?, at_moment.lex_le_at(&at_step)?),
            };
            sides.before.push(together.intersect(&before)?);
            sides.after.push(together.intersect(&after)?);
            return Ok(sides);
        }
        sides.before.push(together.intersect(&at_moment.lex_gt_at(&at_step)?)?);
        sides.after.push(together.intersect(&at_moment.lex_lt_at(&at_step)?)?);
        together = together.intersect(&at_moment.apply_range(&at_step.reverse()?)?)?;
    }
    // The moment is just before what stands there.
    sides.after.push(together);
    Ok(sides)
}

/// Those that are not empty.
pub(super) fn without_empty(maps: Vec<Map>) -> Result<Vec<Map>, Error> {
    let mut some = vec![];
    for map in maps {
        if !map.is_empty()? {
            some.push(map);
        }
    }
    Ok(some)
}
