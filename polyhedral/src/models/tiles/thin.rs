//! Statements of fewer loops beside deeper ones, such as boundaries: thin parts of the space that the deeper ones fill.

use super::band::{Band, MOST_DIMENSIONS, loops, names};
use super::count::Program;
use super::uniform::Uniform;
use crate::affine::Affine;
use crate::algorithm::{Access, ComputationId};
use crate::error::Error;
use crate::isl::Ctx;

/// The band of all loops of the deepest computations, where all points in the middle of it are alike and the other computations
/// stay outside of that; else `None`. The first loop is time.
pub(super) fn deep(ctx: &Ctx, program: &Program, all: &[ComputationId]) -> Result<Option<Band>, Error> {
    let depth_of = |id: &ComputationId| loops(program, *id).len();
    let depth = all.iter().map(depth_of).max().unwrap_or(0);
    let (main, thin): (Vec<ComputationId>, Vec<ComputationId>) = all.iter().partition(|id| depth_of(id) == depth);
    if thin.is_empty() || depth > MOST_DIMENSIONS + 1 {
        return Ok(None);
    }
    let mut band = Band {
        computations: all.to_vec(),
        coordinates: main.iter().map(|&id| (id, loops(program, id).into_iter().map(|(_, at)| at).collect())).collect(),
        names: names(program, main[0], depth, true),
        has_time: true,
        thin: thin.clone(),
    };
    for id in thin {
        let Some(place) = place(program, id, &main, depth)? else { return Ok(None) };
        band.coordinates.insert(id, place);
    }
    Ok(Uniform::of(ctx, program, &band)?.map(|_| band))
}

/// Where a computation of fewer loops stands: with the deeper ones that have the same elements of an array.
fn place(
    program: &Program,
    id: ComputationId,
    main: &[ComputationId],
    depth: usize,
) -> Result<Option<Vec<Affine>>, Error> {
    let mut place: Vec<Option<Affine>> = vec![None; depth];
    place[0] = loops(program, id).into_iter().next().map(|(_, at)| at);
    for mine in accesses(program, id) {
        for &deeper in main {
            let coordinates: Vec<Affine> = loops(program, deeper).into_iter().map(|(_, at)| at).collect();
            for theirs in accesses(program, deeper).filter(|it| it.array == mine.array) {
                for (mine, theirs) in mine.subscripts.iter().zip(&theirs.subscripts) {
                    let (Some(mine), Some(theirs)) = (mine.as_affine(), theirs.as_affine()) else { continue };
                    for (known, coordinate) in place.iter_mut().zip(&coordinates).filter(|(known, _)| known.is_none()) {
                        let beyond = theirs.sub(coordinate)?;
                        if beyond.terms().is_empty() {
                            *known = Some(mine.add_constant(-beyond.constant_term())?);
                        }
                    }
                }
            }
        }
    }
    Ok(place.into_iter().collect())
}

/// All accesses of a computation, the write first.
fn accesses(program: &Program, id: ComputationId) -> impl Iterator<Item = &Access> {
    let it = program.algorithm.computation(id);
    std::iter::once(&it.write).chain(&it.reads)
}
