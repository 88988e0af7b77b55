//! Tilings of time for a stencil.

use super::predict::{Place, Waiting};
use super::{Candidate, Family, Prediction};
use crate::auto::resident_cost::Tiles;
use crate::auto::stream;
use crate::command::Command;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::machine::Gpu;
use crate::models::tiles::Approach;
use crate::models::tiles::fit::Nest;
use crate::schedule::{Node, Tag};
use crate::time_tiling::{Found, Hexagon, Slope, find};

/// Time steps of a tile.
const STEPS: [u32; 5] = [2, 4, 8, 16, 32];
/// Sides of a tile: of the contiguous dimension, and of the others in two and in three dimensions.
const LAST: [u32; 6] = [32, 64, 128, 256, 512, 2048];
const OUTER: [u32; 5] = [4, 8, 16, 32, 64];
const LINE: [u32; 6] = [64, 256, 1024, 2048, 4096, 8192];
/// Of a GPU, where a tile's points are the threads of a block.
const GPU_LAST: [u32; 3] = [16, 32, 64];
const GPU_OUTER: [u32; 3] = [4, 8, 16];

/// All tilings of the nest's time loop; none where no step needs what its neighbours computed, as in a sum over the time loop.
pub(super) fn tilings(
    ctx: &Ctx,
    start: &Scheduled,
    dependences: &[Dependence],
    nest: &Nest,
    time: &str,
    params: &[i64],
) -> Result<Vec<Candidate>, Error> {
    let Some(place) = Place::of(ctx, start, nest, params)? else { return Ok(vec![]) };
    let Some(found) = find(ctx, start, dependences, &nest.computations, time)? else { return Ok(vec![]) };
    let is_still = |slopes: &Vec<[Slope; 2]>| slopes.iter().flatten().all(|&slope| slope == Slope::ZERO);
    if found.slopes.as_ref().is_some_and(is_still) {
        return Ok(vec![]);
    }
    let found = Tilings(found);
    let dims = found.0.stencil.dims.len();
    let mut all = vec![];
    for sides in sides(start.target, &place.extents[..dims.min(place.extents.len())]) {
        all.extend(found.space(&place, &sides));
        for steps in STEPS.into_iter().filter(|&steps| u64::from(steps) <= place.steps) {
            all.extend(found.time_skew(&place, steps, &sides));
            all.extend(found.hexagonal(&place, steps, &sides));
            all.extend(found.overlapped(&place, steps, &sides));
        }
    }
    Ok(all)
}

/// The streams that the model of streams weighs, with its own times, and tiles that blocks keep for all steps where these can hold the
/// domain at such values of the parameters.
pub(super) fn streams(ctx: &Ctx, start: &Scheduled, params: &[i64]) -> Result<Vec<Candidate>, Error> {
    let nodes: Vec<&Node> = match &start.schedule.root {
        Node::Sequence(children) => children.iter().collect(),
        one => vec![one],
    };
    let mut all = vec![];
    for node in nodes {
        let Node::Loop(it) = node else { continue };
        if it.tag != Tag::Sequential {
            continue;
        }
        let Some(&id) = it.at.keys().next() else { continue };
        let computation = start.algorithm.computation(id).name.clone();
        let weighed = stream::candidates(ctx, &Gpu::HOPPER, &start.algorithm, it)?;
        let any = weighed.iter().filter_map(|it| it.size).find(|size| size.hexagon.is_none());
        for weighed in weighed {
            let Some(size) = weighed.size else { continue };
            let time = weighed.time / 1000.0;
            let predicted = Some(Prediction { time, bytes: Some(weighed.bytes), runs: 1.0, fits: true });
            let commands = vec![Command::Stream { computation: computation.clone(), at: it.name.clone(), size }];
            all.push(Candidate { family: Family::Stream, commands, predicted });
        }
        let Some(any) = any else { continue };
        let tiles = Tiles::of(ctx, &start.algorithm, it, any)?;
        let Some(extents) = tiles.extents(&start.algorithm, params) else { continue };
        for weighed in tiles.weighed(&Gpu::HOPPER, &start.algorithm, extents) {
            let Some(size) = weighed.size.and_then(|size| size.resident) else { continue };
            let time = weighed.time / 1000.0;
            let predicted = Some(Prediction { time, bytes: Some(weighed.bytes), runs: 1.0, fits: true });
            // Calls of other sizes may follow: what blocks cannot hold streams.
            let (computation, at) = (computation.clone(), it.name.clone());
            let streams = Command::Stream { computation: computation.clone(), at: at.clone(), size: any };
            let commands = vec![streams, Command::Resident { computation, at, size }];
            all.push(Candidate { family: Family::GridSync, commands, predicted });
        }
    }
    Ok(all)
}

/// All tuples of sides that are not much larger than space.
fn sides(target: Target, extents: &[u64]) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = vec![vec![]];
    for (dim, &extent) in extents.iter().enumerate() {
        let is_last = dim + 1 == extents.len();
        let sizes: &[u32] = match (target, is_last, extents.len()) {
            (Target::Cpu, true, 1) => &LINE,
            (Target::Cpu, true, _) => &LAST,
            (Target::Cpu, false, _) => &OUTER,
            (Target::Gpu, true, _) => &GPU_LAST,
            (Target::Gpu, false, _) => &GPU_OUTER,
        };
        let useful = |&&size: &&u32| u64::from(size) < 2 * extent || size == sizes[0];
        let chosen: Vec<u32> = sizes.iter().filter(useful).copied().collect();
        all =
            all.iter().flat_map(|begun| chosen.iter().map(move |&size| [begun.as_slice(), &[size]].concat())).collect();
    }
    all
}

/// The tilings of a stencil.
struct Tilings(Found);

impl Tilings {
    fn nests(&self) -> f64 {
        self.0.stencil.nests.len() as f64
    }

    /// Where the models count nothing, only skewed tiles can be legal: those of sweeps that see what their step wrote.
    fn candidate(&self, family: Family, command: Command, predicted: Option<Prediction>) -> Option<Candidate> {
        let is_worth = predicted.is_some() || (family == Family::TimeSkew && self.0.slopes.is_none());
        is_worth.then(|| Candidate { family, commands: vec![command], predicted })
    }

    /// The sizes of a tile for the model: sides of all its dimensions, then steps. Dimensions beyond the stencil's stay whole.
    fn sizes(&self, place: &Place<'_>, sides: &[u32], steps: Option<u32>) -> Vec<u64> {
        let rest = place.extents.iter().skip(sides.len()).copied();
        let along = sides.iter().zip(&place.extents).map(|(&side, &extent)| u64::from(side).min(extent));
        along.chain(rest).chain(steps.map(u64::from)).collect()
    }

    fn space(&self, place: &Place<'_>, sides: &[u32]) -> Option<Candidate> {
        self.0.slopes.as_ref()?;
        let (names, time) = (vec![self.0.computation.clone()], self.0.stencil.time.name.clone());
        let command =
            Command::Space { computations: names, time, loops: self.0.stencil.dims.clone(), widths: sides.to_vec() };
        let together = (place.extents[0] as f64 / f64::from(sides[0])).ceil();
        let barriers = place.steps as f64 * self.nests();
        let waiting = Waiting { together, barriers };
        let sizes = self.sizes(place, sides, None);
        self.candidate(Family::Space, command, place.predict(Approach::Plain, &sizes, waiting))
    }

    fn time_skew(&self, place: &Place<'_>, steps: u32, sides: &[u32]) -> Option<Candidate> {
        let (computations, time, loops) =
            (vec![self.0.computation.clone()], self.0.stencil.time.name.clone(), self.0.stencil.dims.clone());
        let command = Command::TimeSkew { computations, time, loops, steps, widths: sides.to_vec() };
        let sizes = self.sizes(place, sides, Some(steps));
        let skew = place.fit(Approach::Skewed).and_then(|fit| fit.skew.first().copied()).unwrap_or(1) as f64;
        let blocks = (place.steps as f64 / f64::from(steps)).ceil();
        let along = ((place.extents[0] as f64 + skew * place.steps as f64) / f64::from(sides[0])).ceil();
        let tiles = blocks * (place.extents[0] as f64 / f64::from(sides[0]) + 1.0).ceil();
        let waves = blocks + along;
        let waiting = Waiting { together: (tiles / waves).max(1.0), barriers: waves };
        let predicted = place.predict(Approach::Skewed, &sizes, waiting);
        self.candidate(Family::TimeSkew, command, predicted)
    }

    /// Hexagons of about so many steps, whose middle is about as wide as the first side.
    fn hexagonal(&self, place: &Place<'_>, steps: u32, sides: &[u32]) -> Option<Candidate> {
        let slopes = self.0.slopes.as_ref()?;
        let nests = self.0.stencil.sweeps;
        // 2h + 2 steps of nests, h + 1 of them a multiple of the nests.
        let half = (i64::from(steps) / 2).max(1) * nests;
        let height = half - 1;
        let [delta0, delta1] = slopes[0];
        let spread = delta0.floor_times(height) + delta1.floor_times(height);
        let width = (i64::from(sides[0]) - 1 - spread / 2).max(Hexagon::least_width(height, delta0, delta1)).max(1);
        let mut widths = vec![u32::try_from(width).ok()?];
        widths.extend(&sides[1..]);
        let (computations, time, loops) =
            (vec![self.0.computation.clone()], self.0.stencil.time.name.clone(), self.0.stencil.dims.clone());
        let height = u32::try_from(height).ok()?;
        let command = Command::Hexagonal { computations, time, loops, height, widths };
        let mean = (width + 1 + spread / 2) as u32;
        let mut sizes = self.sizes(place, sides, Some(steps));
        sizes[0] = u64::from(mean).min(place.extents[0]);
        let period = 2.0 * f64::from(mean);
        let together = (place.extents[0] as f64 / period).ceil();
        let barriers = 2.0 * (place.steps as f64 / f64::from(steps)).ceil();
        let predicted = place.predict(Approach::Skewed, &sizes, Waiting { together, barriers });
        self.candidate(Family::Hexagonal, command, predicted)
    }

    fn overlapped(&self, place: &Place<'_>, steps: u32, sides: &[u32]) -> Option<Candidate> {
        let command = Command::Overlapped {
            computation: self.0.computation.clone(),
            time: self.0.stencil.time.name.clone(),
            loops: self.0.stencil.dims.clone(),
            steps,
            sizes: sides.to_vec(),
        };
        let each = sides.iter().zip(&place.extents).map(|(&side, &extent)| (extent as f64 / f64::from(side)).ceil());
        let waiting = Waiting { together: each.product(), barriers: (place.steps as f64 / f64::from(steps)).ceil() };
        let sizes = self.sizes(place, sides, Some(steps));
        self.candidate(Family::Overlapped, command, place.predict(Approach::Redundant, &sizes, waiting))
    }
}
