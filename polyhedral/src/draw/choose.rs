//! What to draw where the user leaves it open.

use super::{DrawError, DrawnSpace, View, coordinates, counts_tiles};
use crate::algorithm::{Algorithm, ComputationId};
use crate::schedule::Schedule;

/// What the user says; the rest is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub space: DrawnSpace,
    /// Draws this computation alone.
    pub computation: Option<String>,
    /// Horizontal and vertical; empty: two dimensions that are tiled, else the two outermost.
    pub dims: Vec<String>,
    pub fixed: Vec<(String, i64)>,
}

/// A view of a program for these parameters.
///
/// # Errors
/// [`DrawError`] for names that do not fit.
pub fn choose(
    algorithm: &Algorithm,
    schedule: &Schedule,
    choice: &Choice,
    params: Vec<i64>,
) -> Result<View, DrawError> {
    let names = |id| -> Vec<String> {
        coordinates(algorithm, schedule, choice.space, id).into_iter().map(|(name, _)| name).collect()
    };
    let candidates: Vec<ComputationId> = match &choice.computation {
        None => algorithm.ids().collect(),
        Some(name) => vec![algorithm.find(name).ok_or_else(|| DrawError::NoComputation {
            name: name.clone(),
            known: algorithm.computations.iter().map(|it| it.name.clone()).collect(),
        })?],
    };
    let dims = if choice.dims.is_empty() {
        // The most deeply nested, the first of several.
        let deepest = candidates.iter().rev().copied().max_by_key(|&id| names(id).len()).ok_or(DrawError::NoLoops)?;
        default_dims(algorithm, schedule, choice.space, deepest)?
    } else {
        choice.dims.clone()
    };
    let has_dims = |id: &ComputationId| dims.iter().all(|dim| names(*id).contains(dim));
    let computations: Vec<ComputationId> = candidates.iter().copied().filter(has_dims).collect();
    if computations.is_empty() {
        let mut known: Vec<String> = vec![];
        match choice.space {
            DrawnSpace::Schedule if choice.computation.is_none() => known = schedule.loop_names(),
            DrawnSpace::Schedule | DrawnSpace::Iterations => {
                let all = candidates.iter().flat_map(|&id| names(id));
                all.for_each(|name| {
                    if !known.contains(&name) {
                        known.push(name)
                    }
                });
            }
        }
        return Err(DrawError::NoDimensions { dims, known });
    }
    let mut others: Vec<String> = vec![];
    for name in computations.iter().flat_map(|&id| names(id)) {
        if !dims.contains(&name) && !others.contains(&name) {
            others.push(name);
        }
    }
    if let Some((name, _)) = choice.fixed.iter().find(|(name, _)| !others.contains(name)) {
        return Err(DrawError::NotFixed { name: name.clone(), known: others });
    }
    Ok(View { space: choice.space, computations, dims, fixed: choice.fixed.clone(), params })
}

/// Horizontal: the inner one.
fn default_dims(
    algorithm: &Algorithm,
    schedule: &Schedule,
    space: DrawnSpace,
    id: ComputationId,
) -> Result<Vec<String>, DrawError> {
    let all = coordinates(algorithm, schedule, space, id);
    let names = |at: &[usize]| at.iter().rev().map(|&at| all[at].0.clone()).collect();
    let tiled: Vec<usize> = match space {
        DrawnSpace::Schedule => vec![],
        DrawnSpace::Iterations => {
            let loops = schedule.loops_around(id);
            let tiles: Vec<_> = loops.iter().map(|(_, it)| &it.at[&id]).filter(|at| counts_tiles(at)).collect();
            let is_tiled = |at: &usize| tiles.iter().any(|tile| tile.involves_iterator(*at as u32));
            (0..all.len()).filter(is_tiled).collect()
        }
    };
    match (all.len(), tiled.as_slice()) {
        (0, _) => Err(DrawError::NoLoops),
        (1, _) => Ok(names(&[0])),
        (_, [first, second, ..]) => Ok(names(&[*first, *second])),
        (_, _) => Ok(names(&[0, 1])),
    }
}
