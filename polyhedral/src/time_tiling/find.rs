//! Stencils that nobody has named: the time loop around a nest, with as many dimensions of space as it has.

use super::slope::Slope;
use super::stencil::{Stencil, Within, stencil};
use crate::algorithm::ComputationId;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::Scheduled;

/// A stencil whose nests share steps where they can, and what names it in commands.
#[derive(Debug, Clone)]
pub struct Found {
    pub stencil: Stencil,
    /// A computation inside of the time loop.
    pub computation: String,
    /// The slopes along each dimension, where nothing within a step carries a dependence.
    pub slopes: Option<Vec<[Slope; 2]>>,
}

/// The stencil of the loop `time` around these computations; its dimensions are the loops of the deepest nest, at most
/// three, outermost first. `None` where there is no stencil.
///
/// # Errors
/// Where isl fails, or gives up.
pub fn find(
    ctx: &Ctx,
    start: &Scheduled,
    dependences: &[Dependence],
    computations: &[ComputationId],
    time: &str,
) -> Result<Option<Found>, Error> {
    let loops = |id: ComputationId| -> Vec<String> {
        let around = start.schedule.loops_around(id);
        let below = around.iter().skip_while(|(_, it)| it.name != time).skip(1);
        below.map(|(_, it)| it.name.clone()).collect()
    };
    let deepest = computations.iter().copied().max_by_key(|&id| (loops(id).len(), std::cmp::Reverse(id)));
    let Some(deepest) = deepest else { return Ok(None) };
    let names = loops(deepest);
    let computation = start.algorithm.computation(deepest).name.clone();
    for count in (1..=names.len().min(3)).rev() {
        let stencil = match stencil(ctx, start, std::slice::from_ref(&computation), time, &names[..count]) {
            Ok(stencil) => stencil,
            Err(error) if error.is_quota() => return Err(error),
            Err(_) => continue,
        };
        let stencil = stencil.merged(ctx, start, dependences)?;
        let slopes = match slopes(ctx, start, dependences, &stencil) {
            Ok(slopes) => Some(slopes),
            Err(error) if error.is_quota() => return Err(error),
            Err(_) => None,
        };
        return Ok(Some(Found { stencil, computation, slopes }));
    }
    Ok(None)
}

fn slopes(ctx: &Ctx, start: &Scheduled, all: &[Dependence], stencil: &Stencil) -> Result<Vec<[Slope; 2]>, Error> {
    let distances = stencil.distances(ctx, start, all, Within::OnePoint)?;
    (0..stencil.dims.len()).map(|dim| stencil.slopes(ctx, start, all, &distances, dim)).collect()
}
