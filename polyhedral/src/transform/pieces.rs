//! The command that cuts a computation where two of its loops meet.

use super::find::{find_computation, find_loop};
use super::split_domain::{part, split_dependences, split_domain};
use crate::algorithm::ComputationId;
use crate::dependence::Dependence;
use crate::effort;
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::relation;
use std::collections::BTreeMap;

/// What pieces have at the end of their names, before a number.
const SUFFIX: &str = "_piece";

/// Cuts a computation into its instances before, at and after the point where two loops around it have the same value.
///
/// Rewrite: `for i { for j { S } } -> for i { for j { S : j < i; S_piece1 : j == i; S_piece2 : j > i } }`. Pieces that would
/// have no instances are left out; the first keeps its name. Always legal. Gives the dependences of the pieces, too.
///
/// # Source
/// Griebl, Feautrier, Lengauer, *Index set splitting*, IJPP 28(6), 2000.
///
/// # Errors
/// [`ScheduleError::OnePiece`] where all instances lie on one side.
pub fn pieces(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    computation: &str,
    first: &str,
    second: &str,
) -> Result<(Scheduled, Vec<Dependence>), Error> {
    let id = find_computation(&scheduled.algorithm, computation)?;
    let (_, one) = find_loop(scheduled, computation, first)?;
    let (_, other) = find_loop(scheduled, computation, second)?;
    let after = one.at[&id].sub(&other.at[&id])?;
    let before = after.scale(-1)?;
    let sides = [vec![before.add_constant(-1)?], vec![after.clone(), before], vec![after.add_constant(-1)?]];
    let domain = relation::domain(&scheduled.algorithm, id)?;
    let mut kept = vec![];
    for side in sides {
        if !domain.intersect(&part(ctx, &scheduled.algorithm, id, &side)?)?.is_empty()? {
            kept.push(side);
        }
    }
    if kept.len() < 2 {
        let (computation, first, second) = (computation.to_string(), first.to_string(), second.to_string());
        return Err(ScheduleError::OnePiece { computation, first, second }.into());
    }
    let mut done = scheduled.clone();
    let made = split_domain(ctx, &mut done.algorithm, &mut done.schedule, id, &kept, SUFFIX)?;
    let made: BTreeMap<ComputationId, Vec<ComputationId>> = BTreeMap::from([(id, made)]);
    let weight = effort::weight(&done.algorithm, &done.schedule);
    let all = ctx.weighed(weight, || split_dependences(ctx, &done.algorithm, &made, dependences))?;
    Ok((done, all))
}
