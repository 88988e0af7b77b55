//! Commands that look for a number that makes them legal. [`legality`] judges each attempt, as it does every command.

use super::find::{find_computation, find_loop, loop_mut, perfect_pair};
use super::join::fuse;
use super::linear::skew;
use super::tree::exchange;
use crate::dependence::Dependence;
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::legality;
use crate::schedule::{Node, Schedule};

/// The largest factor and the largest shift that are tried.
pub const LARGEST: i64 = 16;

/// Adds the smallest multiple of an outer loop to an inner one that makes the two permutable.
///
/// Rewrite: `for i { for j { S } } -> for i { for j' { S } }` with `j' = j + f*i`, `f` in `0..=`[`LARGEST`].
///
/// # Errors
/// [`ScheduleError::NoFactor`] with the dependence that the largest factor breaks.
pub fn skew_auto(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    computation: &str,
    outer: &str,
    inner: &str,
) -> Result<Schedule, Error> {
    let (outer_path, inner_path) = perfect_pair(scheduled, computation, outer, inner)?;
    let mut broken = None;
    for factor in 0..=LARGEST {
        let schedule = skew(scheduled, computation, outer, inner, factor)?;
        let mut exchanged = schedule.clone();
        exchange(&mut exchanged, &outer_path, &inner_path);
        broken = match legality::first_violation(ctx, &scheduled.algorithm, &schedule, dependences)? {
            None => legality::first_violation(ctx, &scheduled.algorithm, &exchanged, dependences)?,
            violation => violation,
        };
        if broken.is_none() {
            return Ok(schedule);
        }
    }
    let (computation, outer, inner) = (computation.to_string(), outer.to_string(), inner.to_string());
    let violation = Box::new(broken.expect("the last attempt broke a dependence"));
    Err(ScheduleError::NoFactor { computation, outer, inner, largest: LARGEST, violation }.into())
}

/// Makes one loop of two that follow one another, the later one delayed by the smallest number of iterations that is
/// legal.
///
/// Rewrite: `for i { R(i) }; for i { S(i) } -> for i { R(i); S(i - k) }`, `k` in `0..=`[`LARGEST`].
///
/// # Errors
/// [`ScheduleError::NoShift`] with the dependence that the largest shift breaks.
pub fn fuse_shifted(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    first: &str,
    second: &str,
    at: &str,
) -> Result<Schedule, Error> {
    let fused = fuse(scheduled, first, second, at)?;
    let paths = [find_loop(scheduled, first, at)?.0, find_loop(scheduled, second, at)?.0];
    let later = scheduled.schedule.node(paths.iter().max().expect("there are two")).map(Node::computations);
    let later = later.unwrap_or_default();
    let id = find_computation(&scheduled.algorithm, first)?;
    let around = fused.loops_around(id);
    let path = around.iter().find(|(_, it)| it.name == at).map(|(path, _)| path.clone());
    let path = path.expect("fusing keeps the loop's name");
    let mut broken = None;
    for by in 0..=LARGEST {
        let mut schedule = fused.clone();
        for (id, function) in &mut loop_mut(&mut schedule, &path).at {
            if later.contains(id) {
                *function = function.add_constant(by)?;
            }
        }
        broken = legality::first_violation(ctx, &scheduled.algorithm, &schedule, dependences)?;
        if broken.is_none() {
            return Ok(schedule);
        }
    }
    let (first, second, at) = (first.to_string(), second.to_string(), at.to_string());
    let violation = Box::new(broken.expect("the last attempt broke a dependence"));
    Err(ScheduleError::NoShift { first, second, at, largest: LARGEST, violation }.into())
}
