//! Commands that bring computations under one loop, or apart: fuse, distribute, after, before, between.

use super::find::{find_computation, find_loop, loop_mut};
use super::tree::{distribute_at, remove, sequence, simplify};
use crate::error::ScheduleError;
use crate::layers::Scheduled;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use std::collections::BTreeMap;

/// Makes one loop of two that follow one another.
///
/// Rewrite: `for i { R }; for i { S } -> for i { R; S }`; a tag of one of the two becomes that of both.
pub fn fuse(scheduled: &Scheduled, first: &str, second: &str, at: &str) -> Result<Schedule, ScheduleError> {
    let (first_path, _) = find_loop(scheduled, first, at)?;
    let (second_path, _) = find_loop(scheduled, second, at)?;
    let not_adjacent = || {
        let (first, second, at) = (first.to_string(), second.to_string(), at.to_string());
        ScheduleError::NotAdjacent { first, second, at }
    };
    if first == second {
        return Err(ScheduleError::SameComputation { computation: first.to_string() });
    }
    if first_path == second_path {
        let (first, second, at) = (first.to_string(), second.to_string(), at.to_string());
        return Err(ScheduleError::AlreadyShared { first, second, at });
    }
    let (Some((&a, parent)), Some((&b, other))) = (first_path.0.split_last(), second_path.0.split_last()) else {
        return Err(not_adjacent());
    };
    if parent != other || a.abs_diff(b) != 1 {
        return Err(not_adjacent());
    }
    let mut schedule = scheduled.schedule.clone();
    let parent = Path(parent.to_vec());
    let Some(Node::Sequence(children)) = schedule.node_mut(&parent) else { return Err(not_adjacent()) };
    let (low, high) = (a.min(b), a.max(b));
    let (Node::Loop(right), Node::Loop(left)) = (children.remove(high), children.remove(low)) else {
        return Err(not_adjacent());
    };
    let tag = joined([left.tag, right.tag]).ok_or_else(|| {
        let computations = if a < b { [first, second] } else { [second, first] };
        ScheduleError::TagsDiffer { computations: computations.map(str::to_string), tags: [left.tag, right.tag] }
    })?;
    let mut at = left.at;
    at.extend(right.at);
    let body = Box::new(sequence(vec![*left.body, *right.body]));
    children.insert(low, Node::Loop(Loop { name: left.name, tag, at, body }));
    simplify(&mut schedule.root);
    Ok(schedule)
}

/// The tag of a loop that becomes of two. What is said of one of them can be said of both, if the order stays legal: how
/// iterations run on a CPU. Other tags are about the whole of a nest.
fn joined(tags: [Tag; 2]) -> Option<Tag> {
    match tags {
        [one, other] if one == other => Some(one),
        [Tag::Sequential, tag @ (Tag::Parallel | Tag::Vector(_) | Tag::Unroll(_))]
        | [tag @ (Tag::Parallel | Tag::Vector(_) | Tag::Unroll(_)), Tag::Sequential] => Some(tag),
        [
            Tag::Sequential
            | Tag::Parallel
            | Tag::Vector(_)
            | Tag::Unroll(_)
            | Tag::Rows
            | Tag::Separate
            | Tag::GpuBlock(_)
            | Tag::GpuThread(_)
            | Tag::Combine
            | Tag::Stream(_)
            | Tag::GridSync,
            _,
        ] => None,
    }
}

/// Gives each child of a loop's body a loop of its own.
///
/// Rewrite: `for i { R; S } -> for i { R }; for i { S }`
pub fn distribute(scheduled: &Scheduled, computation: &str, at: &str) -> Result<Schedule, ScheduleError> {
    let (path, it) = find_loop(scheduled, computation, at)?;
    let Node::Sequence(_) = &*it.body else {
        let (computation, at) = (computation.to_string(), at.to_string());
        return Err(ScheduleError::NothingToDistribute { computation, at });
    };
    let mut schedule = scheduled.schedule.clone();
    distribute_at(&mut schedule, &path);
    simplify(&mut schedule.root);
    Ok(schedule)
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
}

/// Moves a computation next to another, sharing the other's loops down to `at`.
///
/// Rewrite of `after(R, S, i)`: `for i { S }; for i { R } -> for i { S; R }`. `R` keeps its further loops inside. The loops that it
/// shares run as they do around `S`.
pub(super) fn place(
    scheduled: &Scheduled,
    computation: &str,
    other: &str,
    at: Option<&str>,
    side: Side,
) -> Result<Schedule, ScheduleError> {
    let moved = find_computation(&scheduled.algorithm, computation)?;
    let anchor = find_computation(&scheduled.algorithm, other)?;
    if moved == anchor {
        return Err(ScheduleError::SameComputation { computation: computation.to_string() });
    }
    let own: Vec<Loop> = scheduled.schedule.loops_around(moved).into_iter().map(|(_, it)| it.clone()).collect();
    let mut schedule = scheduled.schedule.clone();
    remove(&mut schedule.root, moved);
    simplify(&mut schedule.root);

    let around = schedule.loops_around(anchor);
    let shared = match at {
        None => 0,
        Some(name) => match around.iter().position(|(_, it)| it.name == name) {
            Some(position) => position + 1,
            None => {
                let known = around.iter().map(|(_, it)| it.name.clone()).collect();
                let (computation, name) = (other.to_string(), name.to_string());
                return Err(ScheduleError::UnknownLoop { computation, name, known });
            }
        },
    };
    if own.len() < shared {
        let computation = computation.to_string();
        return Err(ScheduleError::TooFewLoops { computation, has: own.len(), needs: shared });
    }
    if let Some((mine, (_, shared))) =
        own.iter().zip(&around[..shared]).find(|(mine, (_, it))| mine.tag != Tag::Sequential && mine.tag != it.tag)
    {
        let computations = [computation.to_string(), other.to_string()];
        return Err(ScheduleError::TagsDiffer { computations, tags: [mine.tag, shared.tag] });
    }
    let paths: Vec<Path> = around[..shared].iter().map(|(path, _)| path.clone()).collect();
    for (path, mine) in paths.iter().zip(&own) {
        let at = mine.at[&moved].clone();
        loop_mut(&mut schedule, path).at.insert(moved, at);
    }
    let leaf = own[shared..].iter().rev().fold(Node::Computation(moved), |body, it| {
        let at = BTreeMap::from([(moved, it.at[&moved].clone())]);
        Node::Loop(Loop { name: it.name.clone(), tag: it.tag, at, body: Box::new(body) })
    });

    // Inside the innermost shared loop: beside the child that holds the anchor.
    let parent = paths.last().map_or_else(Path::default, |path| Path([path.0.as_slice(), &[0]].concat()));
    let anchor_path = schedule.path_of(anchor).expect("the anchor was not removed");
    let inside = schedule.node_mut(&parent).expect("the path was just found");
    match inside {
        Node::Sequence(children) => {
            let child = anchor_path.0[parent.0.len()];
            children.insert(if side == Side::After { child + 1 } else { child }, leaf);
        }
        Node::Loop(_) | Node::Computation(_) => {
            let there = std::mem::replace(inside, Node::Sequence(vec![]));
            *inside = sequence(if side == Side::After { vec![there, leaf] } else { vec![leaf, there] });
        }
    }
    simplify(&mut schedule.root);
    Ok(schedule)
}

/// Moves a computation between two others that share a loop.
///
/// Rewrite of `between(Q, S, i, R, i)`: `for i { S; R }; for i { Q } -> for i { S; Q; R }`.
pub fn between(
    scheduled: &Scheduled,
    computation: &str,
    (first, first_at): (&str, &str),
    (second, second_at): (&str, &str),
) -> Result<Schedule, ScheduleError> {
    let moved = find_computation(&scheduled.algorithm, computation)?;
    let (before, _) = find_loop(scheduled, first, first_at)?;
    let (after, _) = find_loop(scheduled, second, second_at)?;
    let refused = || {
        let (computation, at) = (computation.to_string(), first_at.to_string());
        ScheduleError::NotBetween { computation, first: first.to_string(), second: second.to_string(), at }
    };
    let later = find_computation(&scheduled.algorithm, second)?;
    if moved == later {
        return Err(ScheduleError::SameComputation { computation: computation.to_string() });
    }
    if before != after {
        return Err(refused());
    }
    let schedule = place(scheduled, computation, first, Some(first_at), Side::After)?;
    // The tree's order is that of the paths.
    match schedule.path_of(moved) < schedule.path_of(later) {
        true => Ok(schedule),
        false => Err(refused()),
    }
}
