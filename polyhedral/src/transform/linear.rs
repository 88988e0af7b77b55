//! Commands that change the functions of loops, or exchange loops: interchange, skew, shift, reverse.

use super::find::{find_computation, find_inside, find_loop, loop_mut, perfect_pair};
use super::tree::exchange;
use crate::error::{Error, ScheduleError};
use crate::layers::Scheduled;
use crate::schedule::Schedule;

/// Exchanges two perfectly nested loops.
///
/// Rewrite: `for i { for j { S } } -> for j { for i { S } }`; the two may be named in either order.
pub fn interchange(
    scheduled: &Scheduled,
    computation: &str,
    outer: &str,
    inner: &str,
) -> Result<Schedule, ScheduleError> {
    let depth = |name: &str| Ok::<_, ScheduleError>(find_loop(scheduled, computation, name)?.0.0.len());
    let (outer, inner) = if depth(outer)? > depth(inner)? { (inner, outer) } else { (outer, inner) };
    let (outer_path, inner_path) = perfect_pair(scheduled, computation, outer, inner)?;
    let mut schedule = scheduled.schedule.clone();
    exchange(&mut schedule, &outer_path, &inner_path);
    Ok(schedule)
}

/// Adds a multiple of an outer loop to an inner one.
///
/// Rewrite: `for i { for j { S } } -> for i { for j' { S } }` with `j' = j + f*i`.
pub fn skew(
    scheduled: &Scheduled,
    computation: &str,
    outer: &str,
    inner: &str,
    factor: i64,
) -> Result<Schedule, Error> {
    let (_, outer_loop) = find_loop(scheduled, computation, outer)?;
    let (inner_path, _) = find_inside(scheduled, computation, outer, inner)?;
    let outer_at = outer_loop.at.clone();
    let mut schedule = scheduled.schedule.clone();
    let it = loop_mut(&mut schedule, &inner_path);
    for (id, at) in &mut it.at {
        *at = at.add(&outer_at[id].scale(factor)?)?;
    }
    Ok(schedule)
}

/// Delays one computation along a loop.
///
/// Rewrite: `for i { S(i); R(i) } -> for i { S(i-k); R(i) }`
pub fn shift(scheduled: &Scheduled, computation: &str, at: &str, by: i64) -> Result<Schedule, Error> {
    let id = find_computation(&scheduled.algorithm, computation)?;
    let (path, _) = find_loop(scheduled, computation, at)?;
    let mut schedule = scheduled.schedule.clone();
    let it = loop_mut(&mut schedule, &path);
    let shifted = it.at[&id].add_constant(by)?;
    it.at.insert(id, shifted);
    Ok(schedule)
}

/// Runs a loop backwards.
///
/// Rewrite: `for i in l:u { S } -> for i in u:-1:l { S }`
pub fn reverse(scheduled: &Scheduled, computation: &str, at: &str) -> Result<Schedule, Error> {
    let (path, _) = find_loop(scheduled, computation, at)?;
    let mut schedule = scheduled.schedule.clone();
    for at in loop_mut(&mut schedule, &path).at.values_mut() {
        *at = at.scale(-1)?;
    }
    Ok(schedule)
}
