//! Streams over matrices that blocks of one kernel keep where they can hold them.
//!
//! ```text
//! stream t { S; R }  ->  if the blocks hold the matrices { one kernel for all steps } else { stream t { S; R } }
//! ```
//!
//! A launch over a small matrix ends before its blocks have work for long, and each of them waits for memory on its way; tiles that stay in
//! shared memory wait for each other once in four steps ([`crate::stream::resident`]). `docs/performance.md` has what twelve programs gain by it,
//! where tiles fit; over planes in space streams were as fast or faster.

use super::stream::reads_neighbours;
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::schedule::{Loop, Node, Path, ResidentSize, StreamSize, Tag};
use crate::stream::resident::Reaches;
use crate::stream::{self, Resident, Stream};
use std::collections::{BTreeMap, BTreeSet};

/// Points that steps between two barriers reach to one side: more are computed twice too often, fewer make barriers too frequent.
const REACH: i64 = 4;
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
    for path in scheduled.schedule.parts() {
        let Some(Node::Loop(it)) = scheduled.schedule.node(&path) else { continue };
        let (Tag::Stream(size), Some(first)) = (it.tag, it.at.keys().next()) else { continue };
        let whole = algorithm.whole.as_ref().map_or(*first, |whole| whole.piece_of[first.0 as usize]);
        if given.contains(first) || given.contains(&whole) || size.resident.is_some() {
            continue;
        }
        if let Some(resident) = of_loop(ctx, algorithm, it, size, path.0.len())? {
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
fn of_loop(
    ctx: &Ctx,
    algorithm: &Algorithm,
    it: &Loop,
    size: StreamSize,
    depth: usize,
) -> Result<Option<ResidentSize>, Error> {
    let Ok(stream) = stream::find(ctx, algorithm, it, size, depth)? else { return Ok(None) };
    if !matches!(stream.axes, [Some(_), None, Some(_)]) || !reads_neighbours(&stream) {
        return Ok(None);
    }
    let beside = Reaches::of(&stream, 1).beside;
    let reach = beside.iter().map(|it| it.below.max(it.above)).max().unwrap_or(0);
    let steps = (REACH / reach.max(1)).max(1) as u32;
    let largest = |points: u32, most: u32| Some(largest(algorithm, &stream, steps, points, most)?.0);
    let wide = largest(ResidentSize::POINTS, ResidentSize::ROWS).filter(|size| size.rows >= FEW_ROWS);
    Ok(wide.or_else(|| largest(ResidentSize::POINTS / 2, FEW_ROWS)))
}
