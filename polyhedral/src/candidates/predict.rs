//! How long an instance may take under a tiling: bytes, operations, and waiting.
//!
//! Bytes and operations come from counting a tile ([`crate::models::tiles`]); what a tile needs must fit into the cache of
//! a core, else each step streams from memory. Rates are those of a common core: only their proportions matter, since
//! candidates are compared with one another.

use crate::algorithm::Algorithm;
use crate::error::Error;
use crate::isl::Ctx;
use crate::isl::{DimType, Val};
use crate::machine::Machine;
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
    /// Whether what a tile needs fits into the cache of a core.
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

/// A nest at concrete sizes.
pub(super) struct Place<'a> {
    pub(super) nest: &'a Nest,
    pub(super) machine: &'a Machine,
    /// The time steps, and how far space extends along each dimension.
    pub(super) steps: u64,
    pub(super) extents: Vec<u64>,
    /// Bytes of the largest element.
    pub(super) element: f64,
    /// Operations of an instance, on average over the computations.
    pub(super) operations: f64,
}

/// How tiles run: how many at a time on average, and how often all threads wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) together: f64,
    pub(super) barriers: f64,
}

impl<'a> Place<'a> {
    pub(super) fn of(
        ctx: &Ctx,
        algorithm: &Algorithm,
        nest: &'a Nest,
        machine: &'a Machine,
        params: &[i64],
    ) -> Result<Option<Place<'a>>, Error> {
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
        let each = nest.main().map(|id| {
            let (narrow, wide) = work::operations(algorithm.computation(id));
            (narrow + wide).max(1) as f64
        });
        let each: Vec<f64> = each.collect();
        let operations = each.iter().sum::<f64>() / each.len().max(1) as f64;
        Ok(Some(Place { nest, machine, steps, extents, element: element.into(), operations }))
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
        // What a step reads and writes lies in the cache, the footprint of all steps need not.
        let fits = cost.memory as f64 * self.element <= self.machine.l2_bytes as f64;
        let transfers = match fits {
            true => cost.transfers() as f64 / cost.useful as f64,
            // Each step goes through memory, one element in and one out for each that is computed.
            false => 2.0f64.max(cost.transfers() as f64 / cost.useful as f64),
        };
        let bytes = transfers * self.element;
        let threads = f64::from(self.machine.threads.max(1));
        let busy = waiting.together.min(threads).max(1.0);
        // The last round of tiles leaves threads without one.
        let rounds = (waiting.together / threads).ceil().max(1.0);
        let idle = (rounds * threads / waiting.together.max(1.0)).min(threads / busy).max(1.0);
        let lanes = (f64::from(self.machine.vector_bytes) / self.element).max(1.0);
        let moving = bytes / BYTES.min(BYTES_OF_CORE * busy);
        let computing = self.operations * runs / (VECTORS * lanes * busy) * idle;
        // What tiles leave whole belongs to each of their points.
        let all = self.extents.iter().map(|&it| it as f64).product::<f64>() * self.steps as f64 * useful / points;
        let barriers = if threads > 1.0 { waiting.barriers * BARRIER / all.max(1.0) } else { 0.0 };
        let time = moving.max(computing) + SHOWS * moving.min(computing) + barriers;
        Some(Prediction { time, bytes: Some(bytes), runs, fits })
    }
}
