//! Nests that share a step: neighbours that meet only at one point of space within an iteration of the time loop.

use super::stencil::Stencil;
use crate::affine::Affine;
use crate::algorithm::ComputationId;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::{Ctx, Set};
use crate::layers::Scheduled;
use std::collections::{BTreeMap, BTreeSet};

impl Stencil {
    /// The same stencil with one step for neighbouring nests between which all dependences within an iteration of the time loop
    /// are between statements at one point, as the two electric fields of FDTD. Fewer steps make slopes simple, and tiles of as
    /// many steps hold more time. Nests stay loops of their own, in their order.
    ///
    /// # Errors
    /// Where isl fails, or gives up.
    pub fn merged(&self, ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence]) -> Result<Stencil, Error> {
        let bodies = self.nests.iter().enumerate();
        let number: BTreeMap<ComputationId, usize> =
            bodies.flat_map(|(at, nest)| nest.body.computations().into_iter().map(move |id| (id, at))).collect();
        let mut apart: BTreeSet<(usize, usize)> = BTreeSet::new();
        for dependence in dependences {
            let ends = (number.get(&dependence.source.computation), number.get(&dependence.sink.computation));
            let (Some(&source), Some(&sink)) = ends else { continue };
            // Within an iteration nothing goes back, and once apart is enough.
            if source >= sink || apart.contains(&(source, sink)) {
                continue;
            }
            let (_, distances) = self.moved_by(ctx, scheduled, dependence)?;
            if self.is_elsewhere(&distances, self.between(source, sink))? {
                apart.insert((source, sink));
            }
        }
        let mut sweep = vec![0_usize; self.nests.len()];
        for at in 1..sweep.len() {
            let last = sweep[at - 1];
            let is_new = (0..at).any(|other| sweep[other] == last && apart.contains(&(other, at)));
            sweep[at] = last + usize::from(is_new);
        }
        let sweeps = sweep.last().map_or(1, |last| *last as i64 + 1);
        let mut step = BTreeMap::new();
        for (&id, &at) in &number {
            let time = self.time.at[&id].add_constant(-self.start)?;
            step.insert(id, time.scale(sweeps)?.add_constant(sweep[at] as i64)?);
        }
        let mut merged = self.clone();
        (merged.sweeps, merged.step) = (sweeps, step);
        Ok(merged)
    }

    /// Steps from one nest to a later one in the same iteration of the time loop, one for each nest.
    fn between(&self, source: usize, sink: usize) -> i64 {
        debug_assert_eq!(self.sweeps, self.nests.len() as i64, "nests are merged once");
        (sink - source) as i64
    }

    /// Whether some distances of so many steps lead to another point.
    fn is_elsewhere(&self, distances: &Set, steps: i64) -> Result<bool, Error> {
        let space = distances.space()?;
        let zero = Affine::constant(0).to_isl(&space, &[])?;
        let now = Affine::iterator(0).add_constant(-steps)?.to_isl(&space, &[])?.eq_set(&zero)?;
        let mut here = Set::universe(&space)?;
        for dim in 1..=self.dims.len() as u32 {
            here = here.intersect(&Affine::iterator(dim).to_isl(&space, &[])?.eq_set(&zero)?)?;
        }
        Ok(!distances.intersect(&now)?.subtract(&here)?.is_empty()?)
    }
}
