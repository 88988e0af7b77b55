//! How long an instance may take under a tiling: bytes, operations, and waiting.
//!
//! Bytes and operations come from counting a tile ([`crate::models::tiles`]); what a tile needs must fit into the cache of
//! a core, or into the shared memory of a GPU's block, else each step streams from memory. Rates are those of a common core, or of
//! the GPU that code is made for: only their proportions matter, since candidates are compared with one another.

use crate::error::Error;
use crate::isl::Ctx;
use crate::isl::{DimType, Val};
use crate::layers::{Scheduled, Target};
use crate::machine::{Gpu, Machine};
use crate::models::tiles::Approach;
use crate::models::tiles::fit::{Fit, Nest};
use crate::relation;
use crate::work;

/// What the models say of a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Nanoseconds for each useful instance.
    pub time: f64,
    /// Bytes to and from memory for each useful instance, where the model counts them.
    pub bytes: Option<f64>,
    /// Instances that run for each useful one.
    pub runs: f64,
    /// Whether what a tile needs fits into the cache of a core, or into the shared memory of a block.
    pub fits: bool,
}

/// Bytes that all cores move in a nanosecond, and that one does.
const BYTES: f64 = 20.0;
const BYTES_OF_CORE: f64 = 10.0;
/// Vector operations that a core makes in a nanosecond.
const VECTORS: f64 = 2.0;
/// Nanoseconds that all threads take to wait for one another.
const BARRIER: f64 = 5_000.0;
/// Besides the slower of memory and arithmetic, so much of the other one's time shows.
const SHOWS: f64 = 0.3;
/// Lanes of a warp.
const LANES: f64 = 32.0;
/// Blocks that a multiprocessor holds when each has all the shared memory that it may declare.
const LARGE_BLOCKS: f64 = 4.0;
/// Blocks that it holds at most.
const MOST_BLOCKS: f64 = 16.0;

/// What each element that tiles of time load or store takes on a GPU, where barriers stand between their steps: measured tiles of stencils in
/// the plane take half to one and a half times as long (docs/performance.md).
const ACCESS_OF_GPU: f64 = 6e-4;

/// What runs tiles, and how fast; times in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rates {
    /// Cores, or multiprocessors.
    units: f64,
    /// Bytes of fast memory that a tile works in.
    pub(super) fast: f64,
    /// Bytes that all units move, and that one does.
    bytes: f64,
    bytes_of_unit: f64,
    /// Operations of a unit that has enough to do.
    operations: f64,
    /// An element that a thread loads or stores, all units at work.
    access: f64,
    /// What all units take to wait for one another: a barrier, or the start of a kernel.
    pub(super) wait: f64,
    /// How many points a unit must have at a time to be busy, if several tiles share one.
    shared: Option<f64>,
}

impl Rates {
    /// For elements of so many bytes.
    pub(super) fn of(target: Target, machine: &Machine, element: f64) -> Rates {
        match target {
            Target::Cpu => {
                let units = f64::from(machine.threads.max(1));
                Rates {
                    units,
                    fast: machine.l2_bytes as f64,
                    bytes: BYTES,
                    bytes_of_unit: BYTES_OF_CORE,
                    operations: VECTORS * (f64::from(machine.vector_bytes) / element).max(1.0),
                    access: 0.0,
                    wait: if units > 1.0 { BARRIER } else { 0.0 },
                    shared: None,
                }
            }
            Target::Gpu => {
                let gpu = Gpu::HOPPER;
                let units = f64::from(gpu.multiprocessors);
                Rates {
                    units,
                    fast: f64::from(gpu.shared_bytes_of_block),
                    bytes: gpu.bytes_a_picosecond * 1e3,
                    bytes_of_unit: gpu.bytes_a_picosecond_of_multiprocessor * 1e3,
                    // Numbers of eight bytes go at half the pace.
                    operations: gpu.instructions_a_picosecond * 1e3 / units / (element / 4.0).max(1.0),
                    access: ACCESS_OF_GPU,
                    wait: gpu.launch_nanoseconds,
                    shared: Some(f64::from(gpu.most_warps) * LANES),
                }
            }
        }
    }

    /// The units that so many tiles keep busy, and how many times as long these take since the last round leaves units without one.
    fn rounds(&self, tiles: f64) -> (f64, f64) {
        let busy = tiles.min(self.units).max(1.0);
        let rounds = (tiles / self.units).ceil().max(1.0);
        (busy, (rounds * self.units / tiles.max(1.0)).min(self.units / busy).max(1.0))
    }

    /// The part of a unit that tiles with so many points in a step keep busy, each in so many bytes of fast memory.
    fn busy(&self, points: f64, bytes: f64) -> f64 {
        self.shared.map_or(1.0, |full| {
            let blocks = (LARGE_BLOCKS * self.fast / bytes.max(1.0)).floor().clamp(1.0, MOST_BLOCKS);
            (blocks * points / full).min(1.0)
        })
    }
}

/// A nest at concrete sizes.
pub(super) struct Place<'a> {
    pub(super) nest: &'a Nest,
    pub(super) rates: Rates,
    /// The time steps, and how far space extends along each dimension.
    pub(super) steps: u64,
    pub(super) extents: Vec<u64>,
    /// Bytes of the largest element.
    pub(super) element: f64,
    /// Operations of an instance, and elements that it loads and stores, on average over the computations.
    pub(super) operations: f64,
    accesses: f64,
}

/// A tile of a block of a GPU's threads in a nest without time.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfBlock {
    /// How many of them there are, and the threads of each.
    pub(super) blocks: f64,
    pub(super) threads: f64,
    /// Bytes of shared memory.
    pub(super) held: f64,
    /// For each result: bytes to and from memory, operations, and elements that a thread loads.
    pub(super) bytes: f64,
    pub(super) operations: f64,
    pub(super) loads: f64,
}

impl OfBlock {
    /// Nanoseconds for a result.
    pub(super) fn time(&self, rates: &Rates) -> f64 {
        let (busy, idle) = rates.rounds(self.blocks);
        let moving = self.bytes / rates.bytes.min(rates.bytes_of_unit * busy);
        // A load from fast memory takes as long as an operation.
        let instructions = self.operations + self.loads;
        let computing = instructions * idle / (rates.operations * busy * rates.busy(self.threads, self.held));
        at_once(moving, computing)
    }
}

/// What memory and arithmetic take at one time.
fn at_once(moving: f64, computing: f64) -> f64 {
    moving.max(computing) + SHOWS * moving.min(computing)
}

/// How tiles run: how many at a time on average, and how often all threads wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) together: f64,
    pub(super) barriers: f64,
}

impl<'a> Place<'a> {
    pub(super) fn of(ctx: &Ctx, start: &Scheduled, nest: &'a Nest, params: &[i64]) -> Result<Option<Place<'a>>, Error> {
        let algorithm = &start.algorithm;
        let mut extents = vec![];
        for &id in &nest.computations {
            let mut domain = algorithm.computation(id).domain.clone();
            for (at, &value) in params.iter().enumerate() {
                domain = domain.fix(DimType::Param, at as u32, &Val::from_i64(ctx, value)?)?;
            }
            let points = domain.apply(&relation::functions(ctx, algorithm, id, &nest.coordinates[&id])?)?;
            if points.is_empty()? {
                continue;
            }
            let each = (0..nest.coordinates[&id].len() as i32).map(|at| {
                let (low, high) = (points.dim_min_val(at)?.to_i64(), points.dim_max_val(at)?.to_i64());
                Ok::<_, Error>(low.zip(high).map_or(1, |(low, high)| (high - low + 1).max(1) as u64))
            });
            let each: Vec<u64> = each.collect::<Result<_, _>>()?;
            match extents.is_empty() {
                true => extents = each,
                false => {
                    extents.iter_mut().zip(each).for_each(|(known, mine): (&mut u64, u64)| *known = (*known).max(mine))
                }
            }
        }
        if extents.is_empty() {
            return Ok(None);
        }
        let steps = if nest.time.is_some() { extents.remove(0) } else { 1 };
        let written = nest.computations.iter().map(|&id| algorithm.computation(id).write.array);
        let element = written.map(|array| algorithm.array(array).element.bytes()).max().unwrap_or(8);
        let (mut operations, mut accesses) = (0.0, 0.0);
        for computation in nest.main().map(|id| algorithm.computation(id)) {
            let (narrow, wide) = work::operations(computation);
            operations += (narrow + wide).max(1) as f64;
            accesses += (computation.reads.len() + 1) as f64;
        }
        let count = nest.main().count().max(1) as f64;
        let (operations, accesses) = (operations / count, accesses / count);
        let rates = Rates::of(start.target, &start.machine, element.into());
        Ok(Some(Place { nest, rates, steps, extents, element: element.into(), operations, accesses }))
    }

    pub(super) fn fit(&self, approach: Approach) -> Option<&'a Fit> {
        self.nest.fits.iter().find(|it| it.approach == approach)
    }

    /// What a tile of these sizes (space, then steps where the approach has any) takes; nothing where nothing is counted.
    pub(super) fn predict(&self, approach: Approach, sizes: &[u64], waiting: Waiting) -> Option<Prediction> {
        let fit = self.fit(approach)?;
        let cost = fit.cost(sizes);
        if cost.useful == 0 {
            return None;
        }
        let points: f64 = sizes.iter().map(|&it| it as f64).product();
        let useful = cost.useful as f64;
        let runs = (fit.run(sizes) as f64 / useful).max(1.0);
        let rates = &self.rates;
        // What a step reads and writes lies in the cache, the footprint of all steps need not.
        let held = cost.memory as f64 * self.element;
        let fits = held <= rates.fast;
        let transfers = match fits {
            true => cost.transfers() as f64 / cost.useful as f64,
            // Each step goes through memory, one element in and one out for each that is computed.
            false => 2.0f64.max(cost.transfers() as f64 / cost.useful as f64),
        };
        let bytes = transfers * self.element;
        let (busy, idle) = rates.rounds(waiting.together);
        let in_space: f64 = sizes.iter().take(self.nest.space.len()).map(|&it| it as f64).product();
        let operations = rates.operations * busy * rates.busy(in_space, held);
        let moving = bytes / rates.bytes.min(rates.bytes_of_unit * busy);
        let computing = self.operations * runs / operations * idle;
        let accessing = self.accesses * runs * rates.access * rates.units / busy * idle;
        // What tiles leave whole belongs to each of their points.
        let all = self.extents.iter().map(|&it| it as f64).product::<f64>() * self.steps as f64 * useful / points;
        let barriers = waiting.barriers * rates.wait / all.max(1.0);
        let time = at_once(moving, computing.max(accessing)) + barriers;
        Some(Prediction { time, bytes: Some(bytes), runs, fits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_has_figures_of_its_own() {
        let cpu = |machine: &Machine| Rates::of(Target::Cpu, machine, 4.0);
        let gpu = |machine: &Machine| Rates::of(Target::Gpu, machine, 4.0);
        let machine = Machine::GENERIC;
        let other = Machine { l2_bytes: 4 << 20, threads: 64, vector_bytes: 64, ..machine };
        assert_eq!(gpu(&machine), gpu(&other));
        assert_ne!(cpu(&machine), cpu(&other));
        assert_eq!(gpu(&machine).fast, f64::from(Gpu::HOPPER.shared_bytes_of_block));
        assert_eq!((cpu(&machine).fast, gpu(&machine).wait), (524_288.0, 3000.0));
        // A small block leaves lanes idle, several of them do not.
        assert!(gpu(&machine).busy(64.0, 48e3) < 0.5 && gpu(&machine).busy(64.0, 4e3) == 1.0);
        assert_eq!(cpu(&machine).busy(1.0, 1e6), 1.0);
    }
}
