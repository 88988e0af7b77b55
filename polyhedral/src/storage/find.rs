//! Finding what commands name.

use super::error::StorageError;
use crate::algorithm::{Algorithm, ArrayId, ComputationId};
use crate::error::ScheduleError;
use crate::schedule::{Loop, Path, Schedule};

pub(crate) fn computation(algorithm: &Algorithm, name: &str) -> Result<ComputationId, ScheduleError> {
    algorithm.find(name).ok_or_else(|| {
        let known = algorithm.computations.iter().map(|it| it.name.clone()).collect();
        ScheduleError::UnknownComputation { name: name.to_string(), known }
    })
}

pub(crate) fn array(algorithm: &Algorithm, name: &str) -> Result<ArrayId, StorageError> {
    let found = algorithm.arrays.iter().position(|it| it.name == name);
    found.map(|at| ArrayId(at as u32)).ok_or_else(|| {
        let known = algorithm.arrays.iter().map(|it| it.name.clone()).collect();
        StorageError::UnknownArray { name: name.to_string(), known }
    })
}

/// The loops around a computation down to the named one, outermost first.
pub(crate) fn loops_down_to<'a>(
    algorithm: &Algorithm,
    schedule: &'a Schedule,
    id: ComputationId,
    name: &str,
) -> Result<Vec<(Path, &'a Loop)>, ScheduleError> {
    let mut around = schedule.loops_around(id);
    match around.iter().position(|(_, it)| it.name == name) {
        Some(at) => {
            around.truncate(at + 1);
            Ok(around)
        }
        None => Err(ScheduleError::UnknownLoop {
            computation: algorithm.computation(id).name.clone(),
            name: name.to_string(),
            known: around.iter().map(|(_, it)| it.name.clone()).collect(),
        }),
    }
}
