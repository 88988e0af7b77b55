//! Skewing with time tiling: wavefronts of parallelogram tiles.

use super::slope::steepest;
use super::stencil::{Distances, Stencil, Within, stencil};
use super::tree::{around, inner, lanes, point_tags, shared, sharing, steps, turns, untiled};
use crate::affine::Affine;
use crate::algorithm::ComputationId;
use crate::dependence::Dependence;
use crate::error::{Error, ScheduleError};
use crate::isl::{Ctx, Set};
use crate::layers::{Scheduled, Target};
use crate::schedule::{Node, ProcessorAxis, Schedule, Tag};
use std::collections::BTreeMap;

/// Skews dimensions of space until no dependence goes down along them, tiles them together with time, and runs the tiles in
/// wavefronts.
///
/// Rewrite: `for t { for j { for i { S } } } -> for t0 { for j0 { for i0 { for t { for j { for i { S } } } } } }` where
/// `j0` and `i0` count tiles of the skewed positions `j + f*u` and `i + g*u`, and `t0` is the sum of the numbers of blocks of
/// `steps` steps and of `j0`: tiles of one `t0` with other `j0` depend on none of each other, so `j0` runs in parallel, on
/// the GPU as blocks. With one step a block, `t0` is a wavefront through skewed space without tiles of time. `widths` may
/// be fewer than the dimensions: the others are not tiled.
///
/// A dimension is skewed by time alone where that is enough; else, as for Gauss-Seidel sweeps, by the sum of time and
/// the skewed dimensions before. Where points of one step depend on one another, the threads of a block run a tile in wavefronts, too: `t` is the sum of the
/// step and of all skewed positions, which every dependence raises.
///
/// # Source
/// Wonnacott, *Achieving scalable locality with time skewing*, IJPP 30(3), 2002; the wavefront is Lamport's, CACM 17(2), 1974.
///
/// # Errors
/// [`ScheduleError::NotStencil`].
#[allow(clippy::too_many_arguments, reason = "a command has this many parts")]
pub fn time_skew(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    computations: &[String],
    time: &str,
    dims: &[String],
    block: u32,
    widths: &[u32],
) -> Result<Schedule, Error> {
    if widths.is_empty() || widths.len() > dims.len() {
        return Err(ScheduleError::SizeCount { loops: dims.len(), sizes: widths.len() }.into());
    }
    let stencil = stencil(ctx, scheduled, computations, time, dims)?;
    let distances = stencil.distances(ctx, scheduled, dependences, Within::Step)?;
    let in_waves = scheduled.target == Target::Gpu && !distances.parallel_space;
    let count = if in_waves { dims.len() } else { widths.len() };
    let skewed = skewed(ctx, scheduled, dependences, &stencil, &distances, count)?;
    let steps_of_block = i64::from(block) * stencil.nests.len() as i64;
    let extents: Vec<Option<i64>> = (0..dims.len()).map(|dim| widths.get(dim).map(|width| i64::from(*width))).collect();
    let threads = sharing(scheduled.target, &extents);
    let (mut wave, mut time) = (BTreeMap::new(), stencil.time.at.clone());
    let mut tiles = vec![BTreeMap::new(); widths.len()];
    let mut points = vec![BTreeMap::new(); dims.len()];
    let mut rounds = vec![BTreeMap::new(); dims.len()];
    for (&id, step) in &stencil.step {
        let mut place = vec![step.clone()];
        place.extend(stencil.space[&id].iter().cloned());
        let block = step.floor_div(steps_of_block);
        if in_waves {
            let along = |sum: Affine, along: &Affine| sum.add(&along.substitute(&place)?);
            time.insert(id, skewed.iter().try_fold(step.clone(), along)?);
        }
        for (dim, position) in stencil.space[&id].iter().enumerate() {
            let mut point = position.clone();
            if let Some(&width) = widths.get(dim) {
                let along = skewed[dim].substitute(&place)?;
                let tile = along.floor_div(width.into());
                if dim == 0 {
                    wave.insert(id, block.add(&tile)?);
                }
                tiles[dim].insert(id, tile);
                if scheduled.target == Target::Gpu {
                    let (thread, turn) = shared(along.modulo(width.into())?, threads[dim])?;
                    rounds[dim].extend(turn.map(|turn| (id, turn)));
                    point = thread;
                }
            } else {
                let (thread, turn) = untiled(scheduled.target, dim + 1 == dims.len(), position)?;
                rounds[dim].extend(turn.map(|turn| (id, turn)));
                point = thread;
            }
            points[dim].insert(id, point);
        }
    }
    let inside = points_of(scheduled, &stencil, &distances, &time, &points, &rounds);
    let levels = tiles.iter().zip(&stencil.dims).enumerate();
    let body = levels.rev().fold(inside, |body, (dim, (at, name))| {
        let tag = match (dim, scheduled.target) {
            (0, Target::Cpu) => Tag::Parallel,
            (0, Target::Gpu) => Tag::GpuBlock(ProcessorAxis::X),
            (_, Target::Cpu | Target::Gpu) => Tag::Sequential,
        };
        around(&stencil.fresh(&format!("{name}0")), tag, at, body)
    });
    let whole = around(&stencil.fresh(&format!("{}0", stencil.time.name)), Tag::Sequential, &wave, body);
    let mut schedule = scheduled.schedule.clone();
    *schedule.node_mut(&stencil.path).expect("the path was just found") = whole;
    Ok(schedule)
}

/// `for t { for j { for i { nest } }; ... }`.
fn points_of(
    scheduled: &Scheduled,
    stencil: &Stencil,
    distances: &Distances,
    time: &BTreeMap<ComputationId, Affine>,
    points: &[BTreeMap<ComputationId, Affine>],
    rounds: &[BTreeMap<ComputationId, Affine>],
) -> Node {
    let suffix = if scheduled.target == Target::Gpu { "1" } else { "" };
    let nests = stencil.nests.iter().map(|nest| {
        let width = lanes(&scheduled.algorithm, scheduled.machine, stencil, nest).filter(|_| distances.parallel_space);
        let tags = point_tags(scheduled, stencil.dims.len(), width);
        let levels = stencil.dims.iter().zip(tags).zip(points);
        levels.rev().fold(turns(stencil, rounds, inner(nest)), |body, ((name, tag), at)| {
            around(&stencil.fresh(&format!("{name}{suffix}")), tag, at, body)
        })
    });
    around(&stencil.time.name, Tag::Sequential, time, steps(nests.collect()))
}

/// The skewed position along each dimension, over `[u, positions]`.
fn skewed(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    stencil: &Stencil,
    distances: &Distances,
    count: usize,
) -> Result<Vec<Affine>, Error> {
    let mut found: Vec<Affine> = vec![];
    let mut sum = Affine::iterator(0);
    for dim in 0..count {
        let along = Affine::iterator(dim as u32 + 1);
        let mut last = None;
        for by in [Affine::iterator(0), sum.clone()] {
            last = factor(&distances.all, &along, &by)?.map(|factor| (factor, by));
            if last.is_some() {
                break;
            }
        }
        let Some((factor, by)) = last else {
            // What goes down along the dimension while nothing that it could be skewed by goes up, or goes down too far.
            let still = [sum.scale(-1)?, along.scale(-1)?.add_constant(-1)?];
            let steep = [along.add(&sum.scale(super::STEEPEST)?)?.scale(-1)?];
            let name = &stencil.dims[dim];
            let is_still = !some(&distances.all, &still)?.is_empty()?;
            let values: &[Affine] = if is_still { &still } else { &steep };
            return Err(stencil.refuse_where(ctx, scheduled, dependences, values, name)?);
        };
        let next = along.add(&by.scale(factor)?)?;
        sum = sum.add(&next)?;
        found.push(next);
    }
    Ok(found)
}

/// The points for which none of the values is negative.
fn some(points: &Set, values: &[Affine]) -> Result<Set, Error> {
    let space = points.space()?;
    let zero = Affine::constant(0).to_isl(&space, &[])?;
    let keep = |points: Set, value: &Affine| -> Result<Set, Error> {
        Ok(points.intersect(&value.to_isl(&space, &[])?.ge_set(&zero)?)?)
    };
    values.iter().try_fold(points.clone(), keep)
}

/// The least factor for which `along + factor * by` never goes down.
fn factor(points: &Set, along: &Affine, by: &Affine) -> Result<Option<i64>, Error> {
    let down = along.scale(-1)?;
    // Where `by` stands still, nothing helps.
    if !some(points, &[by.scale(-1)?, down.add_constant(-1)?])?.is_empty()? {
        return Ok(None);
    }
    let moving = some(points, &[by.add_constant(-1)?])?;
    let slope = steepest(&moving, &down, by)?;
    Ok(slope.map(|slope| slope.ceil()))
}
