//! Tilings of time on CPUs: a stencil runs through several steps on a part of space while that lies in a core's second-level
//! cache, instead of moving whole arrays once for each nest and step.
//!
//! ```text
//! for t { parallel for j { for i { S } }; parallel for j { for i { R } } }
//!   -> for t0 { parallel for j0 { for t { for j { for i { S } }; for j { for i { R } } } }; .. }
//! ```
//!
//! Hexagons ([`crate::time_tiling::hexagonal`]) compute nothing twice, and start threads twice for as many steps as a hexagon is high.
//! Rows along the contiguous dimension stay whole: vectors like them long, and code for tiles in one dimension of space is quickly
//! made. Hexagons are as high as what they need of all arrays fits; planes of arrays with three axes do not, and single rows gain
//! little.

use super::hexagon_cost;
use crate::algorithm::{Algorithm, ArrayId, ComputationId};
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

/// The points along each dimension that is not tiled, where nobody knows how many there are.
pub const TYPICAL: i64 = 2048;
/// With more statements, code for hexagons takes seconds to generate.
pub const MOST: usize = 3;
/// Time steps of half a hexagon that are tried, the most first.
const HALVES: [i64; 4] = [8, 4, 2, 1];

/// Tiles all outermost time loops that are stencils over space; `None` where there is none.
///
/// # Errors
/// Where isl fails, or gives up.
pub(crate) fn tile(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence]) -> Result<Option<Tiled>, Error> {
    let (commands, computations) = (vec![], BTreeSet::new());
    let mut tiled = Tiled { scheduled: scheduled.clone(), commands, dependences: dependences.to_vec(), computations };
    for path in scheduled.schedule.parts() {
        let Some(Node::Loop(it)) = tiled.scheduled.schedule.node(&path) else { continue };
        if it.tag != Tag::Sequential || !is_over_nests(it) {
            continue;
        }
        let (name, computations) = (it.name.clone(), it.body.computations());
        let Some(found) = find(ctx, &tiled.scheduled, &tiled.dependences, &computations, &name)? else { continue };
        let Some((height, width)) = sizes(&tiled.scheduled.algorithm, &tiled.scheduled.machine, &found) else {
            continue;
        };
        // What the model counts for it and finds to move no less than steps by themselves is left.
        let moved = hexagon_cost::moved(ctx, &tiled.scheduled.algorithm, &found, (height, width))?;
        if moved.is_some_and(|it| it.hexagons >= it.steps) {
            continue;
        }
        let (names, dims) = (vec![found.computation.clone()], found.stencil.dims.clone());
        match hexagonal(ctx, &tiled.scheduled, &tiled.dependences, &names, &name, &dims, height, &[width]) {
            Ok((scheduled, dependences)) => {
                let command =
                    Command::Hexagonal { computations: names, time: name, loops: dims, height, widths: vec![width] };
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

/// The height and the width of hexagons that keep their part of all arrays in the second-level cache; the highest of these, as
/// repeated moves cost most. `None` where even the lowest does not fit, or where a step waits for itself.
fn sizes(algorithm: &Algorithm, machine: &Machine, found: &Found) -> Option<(u32, u32)> {
    let slopes = found.slopes.as_ref()?;
    // What reads no neighbours has nothing to gain: a loop of its own along each point does as well.
    // A single row lies in the first-level cache, unless it is very long.
    if slopes.len() < 2 || slopes[0] == [Slope::ZERO; 2] || found.stencil.step.len() > MOST {
        return None;
    }
    let nests = found.stencil.nests.len() as i64;
    let bytes: i64 =
        arrays(algorithm, found).into_iter().map(|id| i64::from(algorithm.array(id).element.bytes())).sum();
    let row: i64 = slopes[1..].iter().map(|_| TYPICAL).product();
    HALVES.into_iter().find_map(|half| {
        let height = half * nests - 1;
        let [delta0, delta1] = slopes[0];
        let spread = delta0.floor_times(height) + delta1.floor_times(height);
        let width = spread.max(Hexagon::least_width(height, delta0, delta1)).max(1);
        // The middle of a hexagon, and what its ends read.
        let rows = width + 1 + spread + delta0.ceil() + delta1.ceil();
        let fits = u64::try_from(rows * row * bytes).is_ok_and(|bytes| bytes <= machine.l2_bytes);
        fits.then(|| Some((u32::try_from(height).ok()?, u32::try_from(width).ok()?)))?
    })
}

/// The arrays that the stencil's statements access in all dimensions of space.
fn arrays(algorithm: &Algorithm, found: &Found) -> BTreeSet<ArrayId> {
    let accesses = found.stencil.step.keys().flat_map(|&id| {
        let it = algorithm.computation(id);
        it.reads.iter().chain([&it.write]).map(|access| access.array)
    });
    accesses.filter(|&id| algorithm.array(id).rank as usize >= found.stencil.dims.len()).collect()
}
