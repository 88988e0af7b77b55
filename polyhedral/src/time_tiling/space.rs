//! Tiles of space in each time step: the baseline of all time tilings.

use super::stencil::{Within, stencil};
use super::tree::{around, inner, lanes, point_tags, steps};
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
    let mut nests = vec![];
    for nest in &stencil.nests {
        let width = lanes(&scheduled.algorithm, scheduled.machine, &stencil, nest);
        let mut node = inner(nest);
        let tags = point_tags(scheduled, dims.len(), width);
        let (mut tiles, mut points) = (vec![], vec![]);
        for (dim, &width) in widths.iter().enumerate() {
            let (mut tile, mut point) = (BTreeMap::new(), BTreeMap::new());
            for id in nest.body.computations() {
                let position = &stencil.space[&id][dim];
                tile.insert(id, position.floor_div(width.into()));
                point.insert(id, if is_gpu { position.modulo(width.into())? } else { position.clone() });
            }
            tiles.push(tile);
            points.push(point);
        }
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
