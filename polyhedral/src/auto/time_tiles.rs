//! Tilings of time on CPUs: a stencil runs through several steps on a part of space while that lies in caches close to a
//! core, instead of moving whole arrays once for each nest and step.
//!
//! ```text
//! for t { parallel for j { for i { S } }; parallel for j { for i { R } } }
//!   -> for t0 { parallel for j0 { for t { for j { for i { S } }; for j { for i { R } } } }; .. }
//! ```
//!
//! Hexagons ([`crate::time_tiling::hexagonal`]) compute nothing twice, and start threads twice for as many steps as a hexagon is high.
//! Rows along the contiguous dimension stay whole: vectors like them long, and code for tiles in one dimension of space is quickly
//! made. In three dimensions planes stay whole.

use super::step_numbers::InPlace;
use super::{hexagon_cost, step_numbers};
use crate::algorithm::{Algorithm, ArrayId, ArrayKind, ComputationId};
use crate::command::Command;
use crate::dependence::Dependence;
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::machine::Machine;
use crate::schedule::{Loop, Node, Tag};
use crate::time_tiling::{Found, Hexagon, Slope, find, hexagonal};
use std::collections::BTreeSet;

/// A program with its time loops tiled.
pub(crate) struct Tiled {
    pub(crate) scheduled: Scheduled,
    pub(crate) commands: Vec<Command>,
    pub(crate) dependences: Vec<Dependence>,
    /// All computations of the tiled loops.
    pub(crate) computations: BTreeSet<ComputationId>,
}

/// With eight statements that read each other's arrays in place, the proof of hexagons reaches the limit; over a line, where a hexagon
/// has more steps, code takes seconds to generate earlier. Of five, both take half a second.
pub const MOST: usize = 5;
const MOST_IN_LINE: usize = 3;
/// Nor are more steps in an iteration of the time loop looked at: proofs grow with them.
const MOST_SWEEPS: i64 = 3;
/// The most steps of half a hexagon over rows or planes; more gained nothing where it was measured.
const HALF: i64 = 16;
/// The same over points of a line, which are so few that starting threads counts.
const HALF_LINE: i64 = 128;

/// The points along a dimension where nobody knows how many there are: arrays with several axes have some 32 MB then.
pub fn typical(dims: usize) -> i64 {
    if dims < 3 { 2048 } else { 128 }
}

/// Bytes that a core finds close at hand: its second-level cache, or its share of the third level, which is 1.5 to 4 MiB on
/// today's processors. A hexagon as large as that was about as fast as one that fits into the second level, where both have as many
/// steps: rows are read in order, ahead of their use. So steps count for more than the level.
const NEAR: u64 = 4 << 20;

/// Bytes that a hexagon may take.
pub fn room(machine: &Machine) -> u64 {
    machine.l2_bytes.max(NEAR)
}

/// Threads that hexagons are shared out to: lines are too short for more than a few.
pub fn sharing(machine: &Machine, dims: usize) -> i64 {
    i64::from(if dims < 2 { machine.threads.min(2) } else { machine.threads })
}

/// Tiles all time loops that are stencils over space, and that other loops of the host may repeat; `None` where there is none.
///
/// # Errors
/// Where isl fails, or gives up.
pub(crate) fn tile(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence]) -> Result<Option<Tiled>, Error> {
    let (commands, computations) = (vec![], BTreeSet::new());
    let mut tiled = Tiled { scheduled: scheduled.clone(), commands, dependences: dependences.to_vec(), computations };
    for path in scheduled.schedule.host_loops() {
        let outer = scheduled.schedule.around(&path).len();
        let in_place = match outer {
            0 => step_numbers::in_place(ctx, &tiled.scheduled, &path)?,
            _ => None,
        };
        let start = in_place.unwrap_or_else(|| InPlace {
            scheduled: tiled.scheduled.clone(),
            dependences: tiled.dependences.clone(),
            commands: vec![],
        });
        let Some(id) = scheduled.schedule.node(&path).and_then(|node| start.first_of(node)) else { continue };
        if tiled.computations.contains(&id) {
            continue;
        }
        let around = start.scheduled.schedule.loops_around(id);
        let Some((path, it)) = around.into_iter().nth(outer) else { continue };
        if it.tag != Tag::Sequential || !is_over_nests(it) {
            continue;
        }
        let (name, computations) = (it.name.clone(), it.body.computations());
        let Some(found) = find(ctx, &start.scheduled, &start.dependences, &computations, &name)? else { continue };
        let Some((height, width)) = sizes(&start.scheduled.algorithm, &start.scheduled.machine, &found) else {
            continue;
        };
        // What the model counts for it and finds to move no less than steps by themselves is left.
        let moved = hexagon_cost::moved(ctx, &start.scheduled.algorithm, &found, (height, width))?;
        if moved.is_some_and(|it| it.hexagons >= it.steps) {
            continue;
        }
        let (names, dims) = (vec![found.computation.clone()], found.stencil.dims.clone());
        match hexagonal(ctx, &start.scheduled, &start.dependences, &names, &name, &dims, height, &[width]) {
            Ok((scheduled, dependences)) => {
                let command =
                    Command::Hexagonal { computations: names, time: name, loops: dims, height, widths: vec![width] };
                tiled.commands.extend(start.commands);
                tiled.commands.push(command);
                tiled.computations.extend(scheduled.schedule.node(&path).map(Node::computations).unwrap_or_default());
                (tiled.scheduled, tiled.dependences) = (scheduled, dependences);
            }
            Err(error) if error.is_quota() => return Err(error),
            Err(Error::Schedule(ScheduleError::Illegal(_) | ScheduleError::NotStencil { .. })) => {}
            Err(other) => return Err(other),
        }
    }
    Ok((!tiled.commands.is_empty()).then_some(tiled))
}

/// Whether a loop runs loops, each statement below one.
fn is_over_nests(it: &Loop) -> bool {
    match &*it.body {
        Node::Sequence(children) => children.iter().any(|child| matches!(child, Node::Loop(_))),
        Node::Loop(_) => true,
        Node::Computation(_) => false,
    }
}

/// The height and the width of hexagons along the outermost dimension of this stencil, where they promise to pay.
fn sizes(algorithm: &Algorithm, machine: &Machine, found: &Found) -> Option<(u32, u32)> {
    let slopes = found.slopes.as_ref()?;
    let dims = slopes.len();
    // What reads no neighbours has nothing to gain: a loop of its own along each point does as well.
    let most = if dims < 2 { MOST_IN_LINE } else { MOST };
    if slopes[0] == [Slope::ZERO; 2] || found.stencil.step.len() > most {
        return None;
    }
    // So does the memory that a variable of each point needs under hexagons.
    let is_private = |id: &ArrayId| algorithm.array(*id).kind == ArrayKind::Private;
    if found.stencil.sweeps > MOST_SWEEPS || arrays(algorithm, found).iter().any(is_private) {
        return None;
    }
    // A line lies in the first-level cache unless it is very long, so that one thread has little to gain from hexagons; nor has a
    // line that each step keeps elsewhere, side by side with those of other steps.
    let ids = || found.stencil.step.keys();
    if dims < 2 && (machine.threads < 2 || ids().any(|&id| algorithm.computation(id).write.subscripts.len() != dims)) {
        return None;
    }
    let bytes: i64 =
        arrays(algorithm, found).into_iter().map(|id| i64::from(algorithm.array(id).element.bytes())).sum();
    let layers = typical(dims);
    let layer = slopes[1..].iter().map(|_| layers).product::<i64>() * bytes;
    let half = if dims < 2 { HALF_LINE } else { HALF };
    let threads = sharing(machine, dims);
    best(&Asked { slopes: slopes[0], sweeps: found.stencil.sweeps, half, layer, layers, threads, room: room(machine) })
}

/// What sizes of hexagons depend on.
struct Asked {
    /// `delta0` and `delta1` along the dimension that hexagons tile.
    slopes: [Slope; 2],
    /// Steps of one iteration of the time loop.
    sweeps: i64,
    /// The most steps of half a hexagon, unless an iteration of the time loop has more.
    half: i64,
    /// Bytes of all arrays at one position of that dimension.
    layer: i64,
    /// Positions of that dimension.
    layers: i64,
    threads: i64,
    /// Bytes that a hexagon may take.
    room: u64,
}

/// The height `h` and the width `w0` of hexagons: of those that take no more than the room, and of which every thread gets two in a
/// phase, those that move the fewest bytes for each point. `None` where there are no such hexagons.
///
/// Of widths, a quarter and a half of what both slopes reach in `h` steps are tried: wider hexagons gained nothing, and are fewer.
/// A hexagon moves its middle once, which is `w0 + 1` positions and what both slopes reach in `h` steps, and has half of its box
/// for points.
fn best(asked: &Asked) -> Option<(u32, u32)> {
    let [delta0, delta1] = asked.slopes;
    let mut best: Option<(f64, i64, i64)> = None;
    for iterations in
        (0..).map(|power| 1_i64 << power).take_while(|it| it * asked.sweeps <= asked.half.max(asked.sweeps))
    {
        let height = iterations * asked.sweeps - 1;
        let spread = delta0.floor_times(height) + delta1.floor_times(height);
        let least = Hexagon::least_width(height, delta0, delta1).max(1);
        for width in [spread / 4, spread / 2].map(|width| width.max(least)) {
            let hexagon = Hexagon { height, width, delta0, delta1 };
            let middle = width + 1 + spread;
            // What its ends read lies beside it.
            let bytes = (middle + delta0.ceil() + delta1.ceil()) * asked.layer;
            let fits = u64::try_from(bytes).is_ok_and(|bytes| bytes <= asked.room);
            let is_shared = asked.layers >= 2 * hexagon.span() * asked.threads;
            let moved = middle as f64 / (hexagon.span() * hexagon.steps()) as f64;
            if fits && is_shared && best.is_none_or(|(least, ..)| moved < least) {
                best = Some((moved, height, width));
            }
        }
    }
    let (_, height, width) = best?;
    Some((u32::try_from(height).ok()?, u32::try_from(width).ok()?))
}

/// The arrays that the stencil's statements access in all dimensions of space.
fn arrays(algorithm: &Algorithm, found: &Found) -> BTreeSet<ArrayId> {
    let accesses = found.stencil.step.keys().flat_map(|&id| {
        let it = algorithm.computation(id);
        it.reads.iter().chain([&it.write]).map(|access| access.array)
    });
    accesses.filter(|&id| algorithm.array(id).rank as usize >= found.stencil.dims.len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two arrays of `Float64` under two nests that reach one point each way, rows of 2048 points.
    const ROWS: Asked = Asked {
        slopes: [Slope { over: 1, under: 1 }; 2],
        sweeps: 2,
        half: HALF,
        layer: 2048 * 16,
        layers: 2048,
        threads: 2,
        room: NEAR,
    };

    #[test]
    fn hexagons_are_as_high_as_threads_and_caches_allow() {
        assert_eq!(best(&ROWS), Some((15, 15)));
        // Wider ones gain nothing. Twenty threads need narrower ones, sixty-four lower ones.
        assert_eq!(best(&Asked { threads: 20, ..ROWS }), Some((15, 7)));
        assert_eq!(best(&Asked { threads: 64, ..ROWS }), Some((3, 3)));
        // 512 KiB hold 16 rows.
        assert_eq!(best(&Asked { room: 512 << 10, ..ROWS }), Some((3, 3)));
    }

    #[test]
    fn where_not_even_the_lowest_hexagon_fits_there_is_none() {
        assert_eq!(best(&Asked { room: 64 << 10, ..ROWS }), None);
        assert_eq!(best(&Asked { layers: 16, ..ROWS }), None);
    }

    #[test]
    fn heights_are_whole_iterations_of_the_time_loop() {
        for sweeps in 1..=20 {
            let (height, width) = best(&Asked { sweeps, layers: 1 << 20, room: 1 << 40, ..ROWS }).unwrap();
            assert_eq!((i64::from(height) + 1) % sweeps, 0);
            assert!(i64::from(width) >= Hexagon::least_width(height.into(), ROWS.slopes[0], ROWS.slopes[1]));
        }
    }
}
