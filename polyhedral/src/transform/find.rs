//! Computations and loops by the names that users give them.

use crate::algorithm::{Algorithm, ComputationId};
use crate::error::ScheduleError;
use crate::layers::Scheduled;
use crate::schedule::{Loop, Node, Path, Schedule};
use std::collections::BTreeSet;

pub(crate) fn find_computation(algorithm: &Algorithm, name: &str) -> Result<ComputationId, ScheduleError> {
    algorithm.find(name).ok_or_else(|| {
        let known = algorithm.computations.iter().map(|computation| computation.name.clone()).collect();
        ScheduleError::UnknownComputation { name: name.to_string(), known }
    })
}

pub(crate) fn find_loop<'a>(
    scheduled: &'a Scheduled,
    computation: &str,
    name: &str,
) -> Result<(Path, &'a Loop), ScheduleError> {
    let id = find_computation(&scheduled.algorithm, computation)?;
    let around = scheduled.schedule.loops_around(id);
    let known = around.iter().map(|(_, it)| it.name.clone()).collect();
    around.into_iter().find(|(_, it)| it.name == name).ok_or_else(|| {
        let (computation, name) = (computation.to_string(), name.to_string());
        ScheduleError::UnknownLoop { computation, name, known }
    })
}

/// The first name that stands twice.
pub(crate) fn repeated<'a>(names: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    let mut known = BTreeSet::new();
    names.into_iter().find(|name| !known.insert(*name))
}

pub(super) fn find_inside<'a>(
    scheduled: &'a Scheduled,
    computation: &str,
    outer: &str,
    inner: &str,
) -> Result<(Path, &'a Loop), ScheduleError> {
    let (outer_path, _) = find_loop(scheduled, computation, outer)?;
    let (path, it) = find_loop(scheduled, computation, inner)?;
    if path.0.len() <= outer_path.0.len() {
        let (computation, outer, inner) = (computation.to_string(), outer.to_string(), inner.to_string());
        return Err(ScheduleError::NotNested { computation, outer, inner });
    }
    Ok((path, it))
}

/// The paths of two loops with nothing but loops between them.
pub(super) fn perfect_pair(
    scheduled: &Scheduled,
    computation: &str,
    outer: &str,
    inner: &str,
) -> Result<(Path, Path), ScheduleError> {
    let (outer_path, _) = find_loop(scheduled, computation, outer)?;
    let (inner_path, _) = find_inside(scheduled, computation, outer, inner)?;
    for depth in outer_path.0.len()..inner_path.0.len() {
        let here = Path(inner_path.0[..depth].to_vec());
        if let Some(Node::Sequence(children)) = scheduled.schedule.node(&here) {
            let within = inner_path.0[depth];
            let others = children.iter().enumerate().filter(|(at, _)| *at != within);
            let between = others.flat_map(|(_, child)| child.computations()).collect();
            let (computation, outer, inner) = (computation.to_string(), outer.to_string(), inner.to_string());
            return Err(ScheduleError::NotPerfectlyNested { computation, outer, inner, between });
        }
    }
    Ok((outer_path, inner_path))
}

pub(crate) fn loop_mut<'a>(schedule: &'a mut Schedule, path: &Path) -> &'a mut Loop {
    match schedule.node_mut(path) {
        Some(Node::Loop(it)) => it,
        Some(Node::Sequence(_) | Node::Computation(_)) | None => panic!("the path was just found and names a loop"),
    }
}
