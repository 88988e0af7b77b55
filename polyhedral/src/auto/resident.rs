//! Streams over matrices that blocks of one kernel keep where they can hold them.
//!
//! ```text
//! stream t { S; R }  ->  if the blocks hold the matrices { one kernel for all steps } else { stream t { S; R } }
//! ```
//!
//! A launch over a small matrix ends before its blocks have work for long, and each of them waits for memory on its way; tiles that stay in
//! shared memory wait for each other once in four steps ([`crate::stream::resident`]). `docs/performance.md` has what twelve programs gain by it,
//! where tiles fit; over planes in space streams were as fast or faster.

use super::resident_cost::Tiles;
use super::stream::reads_neighbours;
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::machine::Gpu;
use crate::schedule::{Loop, Node, Path, ResidentSize, StreamSize, Tag};
use crate::stream::{self, Resident, Stream};
use std::collections::{BTreeMap, BTreeSet};

/// Points along each axis of the domain for which tiles that stay are weighed, where they hold so many.
pub const TILED_SIDE: i64 = 1000;
/// More steps between barriers take wider rims from what tiles hold: the domain's side may be this part of the largest.
const LARGE: (i64, i64) = (9, 10);
/// Sizes of which the model says no more than this times the least are as fast, as far as it knows.
const AS_FAST: f64 = 1.03;
/// With fewer rows a warp, tiles are narrower instead, which have no more than these: higher ones were no faster than streams.
const FEW_ROWS: u32 = 8;
/// Tiles with fewer rows a warp hold too little.
const LEAST_ROWS: u32 = 4;
/// Steps between two barriers that are weighed.
const STEPS: [u32; 4] = [1, 2, 4, 8];

/// Tiles in which blocks can keep what a stream goes through: for each number of steps between two barriers the largest ones with many points a
/// lane, and with few.
pub(super) fn sizes(algorithm: &Algorithm, stream: &Stream) -> Vec<(ResidentSize, Resident)> {
    let points = [(ResidentSize::POINTS, ResidentSize::ROWS), (ResidentSize::POINTS / 2, FEW_ROWS)];
    let all = STEPS.into_iter().flat_map(|steps| points.map(|(points, rows)| (steps, points, rows)));
    all.filter_map(|(steps, points, rows)| largest(algorithm, stream, steps, points, rows)).collect()
}

/// The largest tile with so many steps between barriers, points a lane, and rows a warp at most.
fn largest(
    algorithm: &Algorithm,
    stream: &Stream,
    steps: u32,
    points: u32,
    most: u32,
) -> Option<(ResidentSize, Resident)> {
    let (warps, lines) = (ResidentSize::WARPS, ResidentSize::LINES);
    let mut sizes = (LEAST_ROWS..=most).rev().map(|rows| ResidentSize { steps, points, rows, warps, lines });
    sizes.find_map(|size| Resident::of(algorithm, stream, size).ok().map(|resident| (size, resident)))
}

/// Has the streams over matrices keep them where blocks can hold them; where one stands in for another one over small matrices, just that
/// one. Streams of `given` computations stay as they are.
///
/// # Errors
/// Where isl fails, or gives up.
pub(crate) fn keep(ctx: &Ctx, scheduled: &mut Scheduled, given: &BTreeSet<ComputationId>) -> Result<(), Error> {
    let algorithm = &scheduled.algorithm;
    let mut last: BTreeMap<ComputationId, (Path, StreamSize)> = BTreeMap::new();
    for path in scheduled.schedule.host_loops() {
        let Some(Node::Loop(it)) = scheduled.schedule.node(&path) else { continue };
        let (Tag::Stream(size), Some(first)) = (it.tag, it.at.keys().next()) else { continue };
        let whole = algorithm.whole.as_ref().map_or(*first, |whole| whole.piece_of[first.0 as usize]);
        if given.contains(first) || given.contains(&whole) || size.resident.is_some() {
            continue;
        }
        if let Some(resident) = of_loop(ctx, algorithm, it, size)? {
            last.insert(whole, (path, StreamSize { resident: Some(resident), ..size }));
        }
    }
    for (path, size) in last.into_values() {
        if let Some(Node::Loop(it)) = scheduled.schedule.node_mut(&path) {
            it.tag = Tag::Stream(size);
        }
    }
    Ok(())
}

/// The sizes in which blocks keep what a time loop works on, if it is one over matrices whose points depend on each other.
fn of_loop(ctx: &Ctx, algorithm: &Algorithm, it: &Loop, size: StreamSize) -> Result<Option<ResidentSize>, Error> {
    let Ok(stream) = stream::find(ctx, algorithm, it, size)? else { return Ok(None) };
    if !matches!(stream.axes, [Some(_), None, Some(_)]) || !reads_neighbours(&stream) {
        return Ok(None);
    }
    let wide = |steps: u32| {
        let largest = |points: u32, most: u32| largest(algorithm, &stream, steps, points, most);
        let wide = largest(ResidentSize::POINTS, ResidentSize::ROWS).filter(|(size, _)| size.rows >= FEW_ROWS);
        wide.or_else(|| largest(ResidentSize::POINTS / 2, FEW_ROWS))
    };
    let all = STEPS.into_iter().filter_map(wide).collect();
    Ok(best(algorithm, &Tiles::with(all, stream)))
}

/// The size that the model takes for the fastest of those that hold nearly the largest domain; of sizes that are as fast, the one with the fewest
/// steps between barriers.
fn best(algorithm: &Algorithm, tiles: &Tiles) -> Option<ResidentSize> {
    let gpu = &Gpu::HOPPER;
    let sides: Vec<(ResidentSize, i64)> =
        tiles.sizes().filter_map(|size| Some((size, tiles.longest(gpu, size)?))).collect();
    let most = sides.iter().map(|&(_, side)| side).max()?;
    let large: BTreeMap<ResidentSize, i64> =
        sides.into_iter().filter(|(_, side)| LARGE.1 * side >= LARGE.0 * most).collect();
    // All of them hold that.
    let side = large.values().copied().fold(TILED_SIDE, i64::min);
    let weighed = tiles.weighed(gpu, algorithm, tiles.cube(side)?);
    let times = weighed.iter().filter_map(|it| Some((it.size?.resident?, it.time)));
    let times: Vec<(ResidentSize, f64)> = times.filter(|(size, _)| large.contains_key(size)).collect();
    let least = times.iter().map(|&(_, time)| time).fold(f64::INFINITY, f64::min);
    let near = times.into_iter().filter(|&(_, time)| time <= AS_FAST * least);
    near.map(|(size, _)| size).min_by_key(|size| size.steps)
}
