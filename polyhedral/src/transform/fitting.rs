//! Sizes that a user leaves open in `grid_sync(S, t, steps)` and `hexagonal(S, t, height, width)`: the usual ones, or smaller ones where those do not fit.

use super::find::find_loop;
use super::tree::nests_apart;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::schedule::{HexagonSize, Loop, Node, OPEN, ResidentSize, StreamSize};
use crate::stream;

/// Warps, lines, and points of tiles that blocks keep, in the order in which they are tried. Rows are all up to the usual ones.
const WARPS: [u32; 2] = [ResidentSize::WARPS, ResidentSize::WARPS / 2];
const LINES: [u32; 3] = [ResidentSize::LINES, ResidentSize::LINES / 2, ResidentSize::LINES / 4];
const TILE_POINTS: [u32; 3] = [ResidentSize::POINTS, ResidentSize::POINTS / 2, 1];
/// The same of hexagons. Over planes, more threads hold more lines, of which fewer are computed twice.
const POINTS: [u32; 3] = [HexagonSize::POINTS, 1, 4];
const THREADS: [u32; 4] = [HexagonSize::THREADS, 128, 512, 64];
const TILES: [u32; 3] = [HexagonSize::TILES, 4, 1];

/// Tiles for all steps of a time loop, with sizes for those that are open.
pub(super) fn tiles(
    ctx: &Ctx,
    scheduled: &Scheduled,
    (computation, at): (&str, &str),
    size: ResidentSize,
) -> Result<ResidentSize, Error> {
    let rows: Vec<u32> = (1..=ResidentSize::ROWS).rev().collect();
    let mut all = vec![];
    for warps in choices(size.warps, &WARPS) {
        for lines in choices(size.lines, &LINES) {
            for points in choices(size.points, &TILE_POINTS) {
                all.extend(choices(size.rows, &rows).map(|rows| ResidentSize { points, rows, warps, lines, ..size }));
            }
        }
    }
    let sizes: Vec<StreamSize> = all.iter().map(|&it| StreamSize::in_tiles(it)).collect();
    let found = first(ctx, scheduled, (computation, at), &sizes)?;
    Ok(all[found])
}

/// Hexagons with sizes for those that are open; other streams as they are.
pub(super) fn hexagons(
    ctx: &Ctx,
    scheduled: &Scheduled,
    (computation, at): (&str, &str),
    size: StreamSize,
) -> Result<StreamSize, Error> {
    let Some(hexagon) = size.hexagon else { return Ok(size) };
    let mut sizes = vec![];
    for points in choices(size.points, &POINTS) {
        for tiles in choices(hexagon.tiles, &TILES) {
            let of_threads = choices(hexagon.threads, &THREADS);
            sizes.extend(
                of_threads.map(|threads| StreamSize::hexagons(points, HexagonSize { threads, tiles, ..hexagon })),
            );
        }
    }
    let found = first(ctx, scheduled, (computation, at), &sizes)?;
    Ok(sizes[found])
}

/// What is tried of a size: itself, unless it is open.
fn choices(given: u32, usual: &[u32]) -> impl Iterator<Item = u32> {
    let open = if given == OPEN { usual } else { &[] };
    let given = (given != OPEN).then_some(given);
    open.iter().copied().chain(given).collect::<Vec<_>>().into_iter()
}

/// The number of the first size in which a time loop streams, its nests taken apart if it does not without; of the first one if there is none,
/// so that the refusal speaks of that.
fn first(ctx: &Ctx, scheduled: &Scheduled, at: (&str, &str), sizes: &[StreamSize]) -> Result<usize, Error> {
    if sizes.len() < 2 {
        return Ok(0);
    }
    let (_, it) = find_loop(scheduled, at.0, at.1)?;
    let apart = Loop { body: Box::new(Node::Sequence(nests_apart(&it.body))), ..it.clone() };
    for time in [it, &apart] {
        if let Some(found) = stream::find_first(ctx, &scheduled.algorithm, time, sizes)? {
            return Ok(found);
        }
    }
    Ok(0)
}
