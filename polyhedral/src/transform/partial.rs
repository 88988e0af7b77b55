//! `parallel` and `vectorize` on a loop that carries nothing but updates in a free order: by partial results.
//!
//! Rewrite of `parallel(S, k)`: `split(S, k, 1024); rfactor(S, k0, 64); interchange(S, k00, k01); parallel(S, k01)`
//!
//! Rewrite of `vectorize(S, k, 8)`: `rfactor(S, k, 8); vectorize(S, k1, 8)`
//!
//! Which iterations a partial result takes, and the order in which they are combined, depend on the sizes only, so the
//! result has the same bits whatever runs it.

use super::find::find_loop;
use super::{interchange, rfactor, split, tag};
use crate::command::Command;
use crate::dependence::{Dependence, dependences};
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::legality::{self, Breach, Violation};
use crate::reduction::{UpdateOrder, reduction};
use crate::schedule::{Schedule, Tag};

/// Neighbouring iterations that go to one partial result: enough for a thread to read memory in order.
const CHUNK: u32 = 1024;

/// Partial results of a parallel loop: more than most machines have threads.
const PARTS: u32 = 64;

/// Carries out a tag that a reduction stands in the way of; `None` where it is refused all the same.
pub(super) fn carry_out(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences_now: &[Dependence],
    command: &Command,
    violation: &Violation,
) -> Option<(Scheduled, Vec<Command>)> {
    let id = violation.source.computation;
    let (_, at, wanted) = tagged(command)?;
    let carried = matches!(&violation.breach, Breach::Concurrent { at: loop_name, .. } if loop_name == at);
    let update = reduction(&scheduled.algorithm, id)?;
    let is_free = update.order != UpdateOrder::Source && update.array == violation.array;
    if violation.sink.computation != id || !carried || !is_free {
        return None;
    }
    let computation = scheduled.algorithm.computation(id).name.clone();
    let depth = find_loop(scheduled, &computation, at)
        .ok()
        .and_then(|(path, _)| scheduled.schedule.loops_around(id).iter().position(|(other, _)| *other == path))?;
    let name = |schedule: &Schedule, at: usize| schedule.loops_around(id).get(at).map(|(_, it)| it.name.clone());
    let mut commands = vec![];
    let mut now = scheduled.clone();
    let mut at = at.clone();
    let size = match vector_width(wanted) {
        Some(width) => width,
        None => {
            let schedule = split(ctx, &now, &computation, &at, CHUNK).ok()?;
            commands.push(Command::Split { computation: computation.clone(), at, size: CHUNK });
            at = name(&schedule, depth)?;
            now = Scheduled { schedule, ..now };
            PARTS
        }
    };
    now = rfactor(ctx, &now, dependences_now, &computation, &at, size).ok()?;
    commands.push(Command::Rfactor { computation: computation.clone(), at, size });
    let all = dependences(ctx, &now.algorithm).ok()?;
    let (outer, inner) = (name(&now.schedule, depth)?, name(&now.schedule, depth + 1)?);
    let last = match vector_width(wanted) {
        Some(width) => Command::Vectorize { computation: computation.clone(), at: inner.clone(), width },
        None => {
            now.schedule = interchange(&now, &computation, &outer, &inner).ok()?;
            commands.push(Command::Interchange { computation: computation.clone(), outer, inner: inner.clone() });
            Command::Parallel { computation: computation.clone(), at: inner.clone() }
        }
    };
    now.schedule = tag(&now, &computation, &inner, wanted).ok()?;
    commands.push(last);
    legality::check(ctx, &now.algorithm, &now.schedule, &all).ok()?;
    Some((now, commands))
}

/// The commands that one stands for on this order: itself, or those that make partial results.
pub fn spelled_out(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence], command: &Command) -> Vec<Command> {
    let Some((computation, at, wanted)) = tagged(command) else { return vec![command.clone()] };
    let refused = tag(scheduled, computation, at, wanted)
        .map(|schedule| legality::check(ctx, &scheduled.algorithm, &schedule, dependences));
    match refused {
        Ok(Err(Error::Schedule(ScheduleError::Illegal(violation)))) => {
            let done = carry_out(ctx, scheduled, dependences, command, &violation);
            done.map_or_else(|| vec![command.clone()], |(_, commands)| commands)
        }
        Ok(_) | Err(_) => vec![command.clone()],
    }
}

/// The computation, the loop and the tag of a command that lets iterations run at one time on the CPU.
fn tagged(command: &Command) -> Option<(&str, &String, Tag)> {
    if let Command::Parallel { computation, at } = command {
        return Some((computation, at, Tag::Parallel));
    }
    if let Command::Vectorize { computation, at, width } = command {
        return Some((computation, at, Tag::Vector(*width)));
    }
    None
}

fn vector_width(tag: Tag) -> Option<u32> {
    match tag {
        Tag::Vector(width) => Some(width),
        Tag::Sequential
        | Tag::Parallel
        | Tag::Unroll(_)
        | Tag::Rows
        | Tag::Separate
        | Tag::GpuBlock(_)
        | Tag::GpuThread(_)
        | Tag::Combine
        | Tag::Stream(_)
        | Tag::GridSync => None,
    }
}
