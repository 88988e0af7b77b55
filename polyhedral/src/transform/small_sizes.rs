//! Tilings of time where a step carries a dependence for small sizes alone: copies to two edges, say, meet where a domain has two points.
//!
//! Rewrite of `space(S, t, i, 8)` where that is so for `m <= 2`: `for t { nests }  ->  for t { nests : m > 2 }; for t { nests : m <= 2 }`, and
//! the first is tiled. For any sizes one of the two has no instances.

use super::find::find_loop;
use super::pieces::{Pieces, of_pieces, pieces_by_size};
use super::sizes::assume;
use super::tree::{remove, sequence, simplify};
use super::{Made, apply_and_renew, made};
use crate::affine::{Affine, ParamId};
use crate::algorithm::{Algorithm, ComputationId};
use crate::command::Command;
use crate::condition::{Condition, greater, known, resolve};
use crate::dependence::Dependence;
use crate::error::{Error, ScheduleError, StencilObstacle};
use crate::isl::{Ctx, DimType, Set, Val};
use crate::layers::Scheduled;
use crate::legality;
use crate::relation;
use crate::time_tiling::stencil;

/// Sizes up to this are small.
const SMALL: i64 = 8;

/// Carries out a tiling of time that was refused, for all sizes but small ones; `None` where that does not help. Gives the dependences
/// of the new algorithm, too.
pub(super) fn carry_out(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    command: &Command,
    error: &Error,
) -> Result<Option<(Scheduled, Vec<Dependence>)>, Error> {
    let Error::Schedule(ScheduleError::NotStencil { obstacle: StencilObstacle::Carried(_), .. }) = error else {
        return Ok(None);
    };
    let (Command::Space { computations, time, loops, .. }
    | Command::Hexagonal { computations, time, loops, .. }
    | Command::GridSync { computations, time, loops, .. }) = command
    else {
        return Ok(None);
    };
    let tiled = stencil(ctx, scheduled, computations, time, loops)?;
    let Some(condition) = sizes(ctx, &scheduled.algorithm, &tiled.carried_for(ctx, scheduled, dependences)?)? else {
        return Ok(None);
    };
    let Some((apart, all)) = apart(ctx, scheduled, dependences, (&computations[0], time), &condition)? else {
        return Ok(None);
    };
    // Why the command is refused for the whole says more than why it is for a part.
    let (done, renewed) = match apply_and_renew(ctx, &apart, &all, command) {
        Err(Error::Schedule(_)) => return Ok(None),
        other => other?,
    };
    Ok(Some((done, renewed.unwrap_or(all))))
}

/// Steps of [`legal_above`]; each looks at all dependences once.
const STEPS: u32 = 6;

/// A condition that keeps all but small sizes, for which alone a refused command breaks dependences; `None` where it breaks some for
/// larger ones, or no condition was found.
pub fn legal_above(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    command: &Command,
) -> Result<Option<Condition>, Error> {
    let (mut now, mut found, mut but) = (scheduled.clone(), None, vec![]);
    for _ in 0..STEPS {
        let Made::Order(schedule) = made(ctx, &now, dependences, command)? else { return Ok(None) };
        match legality::broken_for(ctx, &now.algorithm, &schedule, dependences)? {
            None => return Ok(found),
            Some(broken) => but.push(broken),
        }
        let Some(condition) = sizes(ctx, &scheduled.algorithm, &but)? else { return Ok(None) };
        now = assume(ctx, scheduled, &condition)?;
        found = Some(condition);
    }
    Ok(None)
}

/// A condition on sizes that none of these parameters meet, if one does that keeps all but small sizes.
fn sizes(ctx: &Ctx, algorithm: &Algorithm, but: &[Set]) -> Result<Option<Condition>, Error> {
    let mut most = vec![0; algorithm.params.len()];
    for sizes in but {
        let mut bounded = None;
        for at in 0..algorithm.params.len() {
            let reaches = |least: i64| -> Result<bool, Error> {
                Ok(!sizes.lower_bound(DimType::Param, at as u32, &Val::from_i64(ctx, least)?)?.is_empty()?)
            };
            if !reaches(SMALL + 1)? {
                let mut last = SMALL;
                while last > 0 && !reaches(last)? {
                    last -= 1;
                }
                bounded = Some((at, last));
                break;
            }
        }
        let Some((at, last)) = bounded else { return Ok(None) };
        most[at] = most[at].max(last);
    }
    let mut comparisons = vec![];
    for (at, most) in (0..).zip(most).filter(|(_, most)| *most > 0) {
        comparisons.extend(greater(algorithm, &Affine::param(ParamId(at)), most).comparisons);
    }
    Ok(Some(Condition { comparisons }).filter(|it| !it.comparisons.is_empty()))
}

/// The time loop around a computation in two: for sizes for which a condition holds, and for all others.
fn apart(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    (computation, time): (&str, &str),
    condition: &Condition,
) -> Result<Option<(Scheduled, Vec<Dependence>)>, Error> {
    let (path, _) = find_loop(scheduled, computation, time)?;
    let nest = scheduled.schedule.node(&path).expect("the path was just found").clone();
    let holds = resolve(ctx, &scheduled.algorithm, condition)?.intersect(&known(&scheduled.algorithm)?)?;
    let (mut now, mut all) = (scheduled.clone(), dependences.to_vec());
    let (mut first, mut others, mut pieces) = (nest.clone(), nest.clone(), Pieces::new());
    for id in nest.computations() {
        let name = scheduled.algorithm.computation(id).name.clone();
        let piece = ComputationId(now.algorithm.computations.len() as u32);
        match pieces_by_size(ctx, &now, &all, &name, condition) {
            Ok(cut) => {
                (now, all) = cut;
                pieces.insert(id, piece);
            }
            Err(Error::Schedule(ScheduleError::OneSize { .. })) => {
                let domain = relation::domain(&scheduled.algorithm, id)?;
                let never = domain.intersect_params(&holds)?.is_empty()?;
                remove(if never { &mut first } else { &mut others }, id);
            }
            Err(other) => return Err(other),
        }
    }
    if pieces.is_empty() {
        return Ok(None);
    }
    let node = now.schedule.node_mut(&path).expect("pieces stand where their computations stood");
    *node = sequence(vec![first, of_pieces(&others, &pieces)]);
    simplify(&mut now.schedule.root);
    legality::check(ctx, &now.algorithm, &now.schedule, &all)?;
    Ok(Some((now, all)))
}
