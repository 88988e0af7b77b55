//! Tiles of space in each time step: the baseline of all time tilings.

use super::stencil::{Within, stencil};
use super::tree::{around, inner, lanes, point_tags, shared, sharing, steps, turns};
use crate::dependence::Dependence;
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::schedule::{ProcessorAxis, Schedule, Tag};
use std::collections::BTreeMap;

/// Tiles the dimensions of space within each time step, nest by nest.
///
/// Rewrite: `for t { for j { for i { S } }; ... } -> for t { for j0 { for i0 { for j { for i { S } } } }; ... }`, tiles in
/// parallel: on the CPU those of the first dimension, on the GPU as blocks of threads.
///
/// # Errors
/// [`ScheduleError::NotStencil`] where a loop over space carries a dependence.
pub fn space(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    computations: &[String],
    time: &str,
    dims: &[String],
    widths: &[u32],
) -> Result<Schedule, Error> {
    if widths.len() != dims.len() {
        return Err(ScheduleError::SizeCount { loops: dims.len(), sizes: widths.len() }.into());
    }
    let stencil = stencil(ctx, scheduled, computations, time, dims)?;
    stencil.distances(ctx, scheduled, dependences, Within::OnePoint)?;
    let is_gpu = scheduled.target == Target::Gpu;
    let axes = [ProcessorAxis::X, ProcessorAxis::Y, ProcessorAxis::Z];
    let extents: Vec<Option<i64>> = widths.iter().map(|width| Some(i64::from(*width))).collect();
    let threads = sharing(scheduled.target, &extents);
    let mut nests = vec![];
    for nest in &stencil.nests {
        let width = lanes(&scheduled.algorithm, scheduled.machine, &stencil, nest);
        let tags = point_tags(scheduled, dims.len(), width);
        let (mut tiles, mut points, mut rounds) = (vec![], vec![], vec![]);
        for (dim, &width) in widths.iter().enumerate() {
            let (mut tile, mut point, mut round) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
            for id in nest.body.computations() {
                let position = &stencil.space[&id][dim];
                tile.insert(id, position.floor_div(width.into()));
                let (thread, turn) = match is_gpu {
                    true => shared(position.modulo(width.into())?, threads[dim])?,
                    false => (position.clone(), None),
                };
                point.insert(id, thread);
                round.extend(turn.map(|turn| (id, turn)));
            }
            tiles.push(tile);
            points.push(point);
            rounds.push(round);
        }
        let mut node = turns(&stencil, &rounds, inner(nest));
        for (dim, name) in dims.iter().enumerate().rev() {
            let name = if is_gpu { format!("{name}1") } else { name.clone() };
            node = around(&stencil.fresh(&name), tags[dim], &points[dim], node);
        }
        for (dim, name) in dims.iter().enumerate().rev() {
            let tag = match (is_gpu, axes.get(dims.len() - 1 - dim)) {
                (true, Some(axis)) => Tag::GpuBlock(*axis),
                (false, _) if dim == 0 => Tag::Parallel,
                (true, None) | (false, _) => Tag::Sequential,
            };
            node = around(&stencil.fresh(&format!("{name}0")), tag, &tiles[dim], node);
        }
        nests.push(node);
    }
    let whole = around(&stencil.time.name, Tag::Sequential, &stencil.time.at, steps(nests));
    let mut schedule = scheduled.schedule.clone();
    *schedule.node_mut(&stencil.path).expect("the path was just found") = whole;
    Ok(schedule)
}
