//! The commands that cut a computation: where two of its loops meet, or by sizes.

use super::find::{find_computation, find_loop};
use super::split_domain::{part, split_dependences, split_domain, split_into};
use super::webs;
use crate::algorithm::ComputationId;
use crate::condition::{Condition, known, resolve};
use crate::dependence::Dependence;
use crate::effort;
use crate::error::{Error, ScheduleError};
use crate::isl::{Ctx, Set};
use crate::layers::Scheduled;
use crate::relation;
use crate::schedule::{Loop, Node};
use std::collections::BTreeMap;

/// By computation, its piece for all other sizes.
pub(crate) type Pieces = BTreeMap<ComputationId, ComputationId>;

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
    renewed(ctx, done, dependences, id, made)
}

/// Cuts a computation into its instances for sizes for which a condition holds, and those for other sizes.
///
/// Rewrite: `S -> S : condition; S_piece1 : !condition`. Always legal. Gives the dependences of the pieces, too: none between the two,
/// which never both have instances. A variable all of whose users are cut becomes two.
///
/// # Errors
/// [`ScheduleError::OneSize`] where one of the two never has instances, and as [`resolve`].
pub fn pieces_by_size(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    computation: &str,
    condition: &Condition,
) -> Result<(Scheduled, Vec<Dependence>), Error> {
    let id = find_computation(&scheduled.algorithm, computation)?;
    let holds = resolve(ctx, &scheduled.algorithm, condition)?;
    let all = Set::universe(&relation::domain_space(ctx, &scheduled.algorithm, id)?)?;
    let first = all.intersect_params(&holds)?;
    let parts = [first.clone(), all.subtract(&first)?];
    let domain = relation::domain(&scheduled.algorithm, id)?.intersect_params(&known(&scheduled.algorithm)?)?;
    for part in &parts {
        if domain.intersect(part)?.is_empty()? {
            let (computation, condition) = (computation.to_string(), condition.to_string());
            return Err(ScheduleError::OneSize { computation, condition }.into());
        }
    }
    let mut done = scheduled.clone();
    let made = split_into(ctx, &mut done.algorithm, &mut done.schedule, id, &parts, SUFFIX)?;
    if let Some(whole) = &mut done.algorithm.whole {
        let others = Set::universe(&holds.space()?)?.subtract(&holds)?;
        let before = whole.sizes.get(&id).cloned();
        for (&piece, (sizes, text)) in
            made.iter().zip([(holds, condition.to_string()), (others, format!("!({condition})"))])
        {
            let both = match &before {
                None => (sizes, text),
                Some((all, of_all)) => (all.intersect(&sizes)?, format!("{of_all} && {text}")),
            };
            whole.sizes.insert(piece, both);
        }
    }
    let (mut done, mut all) = renewed(ctx, done, dependences, id, made.clone())?;
    webs::apart(&mut done.algorithm, &mut all, &made);
    Ok((done, all))
}

/// A nest with the pieces in place of what they are pieces of.
pub(crate) fn of_pieces(nest: &Node, pieces: &Pieces) -> Node {
    let piece = |id: &ComputationId| pieces.get(id).copied().unwrap_or(*id);
    match nest {
        Node::Computation(id) => Node::Computation(piece(id)),
        Node::Sequence(children) => Node::Sequence(children.iter().map(|child| of_pieces(child, pieces)).collect()),
        Node::Loop(it) => Node::Loop(Loop {
            name: it.name.clone(),
            tag: it.tag,
            at: it.at.iter().map(|(id, at)| (piece(id), at.clone())).collect(),
            body: Box::new(of_pieces(&it.body, pieces)),
        }),
    }
}

/// With the dependences of what `id` was split into.
fn renewed(
    ctx: &Ctx,
    done: Scheduled,
    dependences: &[Dependence],
    id: ComputationId,
    made: Vec<ComputationId>,
) -> Result<(Scheduled, Vec<Dependence>), Error> {
    let made: BTreeMap<ComputationId, Vec<ComputationId>> = BTreeMap::from([(id, made)]);
    let weight = effort::weight(&done.algorithm, &done.schedule);
    let all = ctx.weighed(weight, || split_dependences(ctx, &done.algorithm, &made, dependences))?;
    Ok((done, all))
}
